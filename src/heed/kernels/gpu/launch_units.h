#pragma once

#include <initializer_list>

#include "heed/kernels/gpu/launch_elements.h"

// Launches of kernels that copy elements in units of 2, 4 or 16 bytes.

namespace heed::kernels::gpu {

/// The bytes of the largest unit that divides all of those numbers of bytes and addresses.
inline int64_t unit_of(std::initializer_list<int64_t> bytes,
                       std::initializer_list<const std::byte*> addresses) {
  int64_t bits = 0;
  for (const int64_t value : bytes) bits |= value;
  for (const std::byte* address : addresses)
    bits |= static_cast<int64_t>(reinterpret_cast<uintptr_t>(address));
  return bits % 16 == 0 ? 16 : bits % 4 == 0 ? 4 : 2;
}

/// The kernel for that unit.
inline const char* by_unit(int64_t unit, const char* two, const char* four, const char* sixteen) {
  return unit == 16 ? sixteen : unit == 4 ? four : two;
}

}  // namespace heed::kernels::gpu
