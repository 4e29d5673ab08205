#pragma once

#include <cstdint>

#include "heed/gpu/code/operations.h"

// Numbers as they are stored, and as kernels compute with them.

namespace heed::kernels::gpu {

/// The bits of a bfloat16.
struct Bf16 {
  uint16_t bits;
};

/// The bits of a float16.
struct F16 {
  uint16_t bits;
};

HEED_DEVICE float wide(float x) { return x; }
HEED_DEVICE float wide(Bf16 x) { return heed::gpu::float_of_bits(uint32_t{x.bits} << 16); }
HEED_DEVICE float wide(F16 x) { return heed::gpu::float_of_half(x.bits); }

template <typename T>
HEED_DEVICE T narrow(float x);
template <>
HEED_DEVICE float narrow<float>(float x) {
  return x;
}
/// Rounds to nearest even; NaN stays NaN.
template <>
HEED_DEVICE Bf16 narrow<Bf16>(float x) {
  const uint32_t bits = heed::gpu::bits_of_float(x);
  if (x != x) return {static_cast<uint16_t>((bits >> 16) | 0x40)};
  return {static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

}  // namespace heed::kernels::gpu
