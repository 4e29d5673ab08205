#pragma once

#include <cstdint>

#include "heed/gpu/code/operations.h"

// The largest elements of a list. An element is a key of 64 bits: its value, as an integer of the
// same order, above the complement of its index, so that of equal values the first has the larger
// key. All keys of a list differ.

namespace heed::kernels::gpu {

constexpr uint32_t kNanKey = 0xfffffffeu;  // the upper half
constexpr uint64_t kNoKey = 0;

HEED_DEVICE uint64_t key_of(float value, int index) {
  using namespace heed::gpu;
  const uint32_t bits = value == 0.0f ? 0u : bits_of_float(value);  // both zeros are equal
  const uint32_t ordered = value != value ? kNanKey : bits >> 31 ? ~bits : bits | 0x80000000u;
  return uint64_t{ordered} << 32 | ~static_cast<uint32_t>(index);
}

HEED_DEVICE int index_of(uint64_t key) { return static_cast<int>(~static_cast<uint32_t>(key)); }

HEED_DEVICE uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

HEED_DEVICE uint64_t largest_of_warp(uint64_t key) {
  using namespace heed::gpu;
  const uint32_t upper = reduce_max(static_cast<uint32_t>(key >> 32));
  const uint32_t lower = key >> 32 == upper ? static_cast<uint32_t>(key) : 0;
  return uint64_t{upper} << 32 | reduce_max(lower);
}

}  // namespace heed::kernels::gpu
