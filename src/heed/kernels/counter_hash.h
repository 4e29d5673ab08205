#pragma once

#include <cstdint>

#include "heed/gpu/code/host_device.h"

namespace heed::kernels {

/// 32 pseudo-random bits for element `index` of the dropout mask `key`: two keyed rounds of
/// multiply and shift. It is cheap enough to be computed again in the backward pass, so no mask is
/// stored. The vector kernels compute the same function lane by lane.
HEED_HOST_DEVICE inline uint32_t counter_hash(uint64_t key, uint64_t index) {
  uint32_t x = static_cast<uint32_t>(index) ^ static_cast<uint32_t>(key);
  x += static_cast<uint32_t>(index >> 32) * 0x9e3779b9u;
  x = (x ^ (x >> 16)) * 0x85ebca6bu;
  x ^= static_cast<uint32_t>(key >> 32);
  x = (x ^ (x >> 13)) * 0xc2b2ae35u;
  return x ^ (x >> 16);
}

/// An element is dropped if its hash is below rate * 2^32.
inline uint32_t drop_threshold(float rate) {
  return static_cast<uint32_t>(static_cast<double>(rate) * 4294967296.0);
}

}  // namespace heed::kernels
