#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace heed {

/// Blocks from a few areas of memory, which it never reads or writes: the memory may be a device's.
/// Returned blocks are merged with their free neighbours, so that the same memory serves blocks of
/// any size: a step's activations, then the gradients that replace them. Not thread-safe.
class Arena {
 public:
  /// Sizes are multiples of this, and blocks are aligned to it.
  static constexpr size_t kGranule = 4096;

  struct Extent {
    std::byte* begin;
    size_t size;
    std::byte* end() const { return begin + size; }
  };

  /// A block of `size` bytes, contents undefined; null if no free extent is as large.
  std::byte* take(size_t size);
  /// Adds a block that was taken, or a new area.
  void give_back(std::byte* block, size_t size);
  /// Takes an area out, to be returned to the system; false if a part of it is in use.
  bool remove(std::byte* area, size_t size);

  /// By address, neighbours merged.
  std::span<const Extent> free_extents() const { return free_; }

 private:
  std::vector<Extent> free_;
};

}  // namespace heed
