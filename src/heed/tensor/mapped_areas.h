#pragma once

#include <cstddef>

#include "heed/tensor/arena.h"

namespace heed {

/// Areas of the host's memory for an arena, in huge pages where the system has them.
class MappedAreas {
 public:
  /// Adds an area of at least `size` bytes, if possible right below the last one, with which it
  /// merges; false if the system has no memory left.
  bool grow(Arena& arena, size_t size);

 private:
  std::byte* lowest_ = nullptr;  // begin of the newest area
};

}  // namespace heed
