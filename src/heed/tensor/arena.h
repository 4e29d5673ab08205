#pragma once

#include <cstddef>
#include <vector>

namespace heed {

/// Large blocks from a few areas of memory. Returned blocks are merged with their free neighbours,
/// so that the same memory serves blocks of any size: a step's activations, then the gradients that
/// replace them. Not thread-safe.
class Arena {
 public:
  /// Sizes are multiples of this, and blocks are aligned to it.
  static constexpr size_t kGranule = 4096;

  /// A block of `size` bytes, contents undefined; null if the system has no memory left.
  std::byte* take(size_t size);
  void give_back(std::byte* block, size_t size);

  /// Returns the pages of all free memory to the system, and keeps their addresses.
  void release();

 private:
  struct Extent {
    std::byte* begin;
    size_t size;
    std::byte* end() const { return begin + size; }
  };

  bool grow(size_t size);
  void add(Extent extent);

  std::vector<Extent> free_;     // by address, neighbours merged
  std::byte* lowest_ = nullptr;  // begin of the newest area
};

}  // namespace heed
