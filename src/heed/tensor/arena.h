#pragma once

#include <cstddef>
#include <vector>

namespace heed {

/// Large blocks, cut from a few areas of memory. What is given back joins its free neighbours, so
/// that blocks of any size follow each other in the same memory: a step's activations, then the
/// gradients that replace them. Not for several threads at a time.
class Arena {
 public:
  /// Sizes are multiples of this, and blocks are aligned to it.
  static constexpr size_t kGranule = 4096;

  /// A block of `size` bytes, contents undefined; null when the system has no memory left.
  std::byte* take(size_t size);
  void give_back(std::byte* block, size_t size);

  /// Gives the pages of all free memory back to the system. Their addresses stay.
  void release();

 private:
  struct Extent {
    std::byte* begin;
    size_t size;
    std::byte* end() const { return begin + size; }
  };

  bool grow(size_t size);
  void add(Extent extent);

  std::vector<Extent> free_;     // by address; none begins where another ends
  std::byte* lowest_ = nullptr;  // begin of the newest area
};

}  // namespace heed
