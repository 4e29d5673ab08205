#pragma once

#include "heed/kernels/gpu/code/numbers.h"
#include "heed/kernels/gpu/code/words.h"

// 8-bit integers with a common scale: round(x / scale) with scale = max |x| / 127.

namespace heed::kernels::gpu {

HEED_DEVICE uint32_t shuffle_bits(uint32_t bits, unsigned mask) {
  return heed::gpu::bits_of_float(heed::gpu::shuffle_xor(heed::gpu::float_of_bits(bits), mask));
}

/// Four elements, aligned to their size.
HEED_DEVICE void load_four(const float* from, float (&x)[4]) {
  uint32_t words[4];
  load_words<4>(from, words);
  for (int i = 0; i < 4; ++i) x[i] = heed::gpu::float_of_bits(words[i]);
}
HEED_DEVICE void load_four(const Bf16* from, float (&x)[4]) {
  uint32_t words[2];
  load_words<2>(from, words);
  for (int i = 0; i < 4; ++i)
    x[i] = heed::gpu::float_of_bits(i % 2 == 0 ? words[i / 2] << 16 : words[i / 2] & 0xffff0000u);
}

/// The largest magnitude, as the bits of an f32: they compare like integers, and what is not finite
/// is largest.
HEED_DEVICE uint32_t largest_magnitude(const float (&x)[4]) {
  uint32_t largest = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t magnitude = heed::gpu::bits_of_float(x[i]) & 0x7fffffffu;
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}

struct QuantScale {
  float scale;
  float inverse;  // 0: all integers are zeros
};

/// NaN if an element is not finite; 0 if 1 / scale is not.
HEED_DEVICE QuantScale quant_scale(uint32_t largest) {
  constexpr uint32_t kInfinity = 0x7f800000u;
  if (largest >= kInfinity) return {heed::gpu::float_of_bits(0x7fc00000u), 0.0f};
  const float scale = heed::gpu::float_of_bits(largest) / 127.0f, inverse = 1.0f / scale;
  if (heed::gpu::bits_of_float(inverse) >= kInfinity) return {0.0f, 0.0f};
  return {scale, inverse};
}

/// Four integers in a word; adds them to `sum`.
HEED_DEVICE uint32_t quants_of(const float (&x)[4], QuantScale by, int& sum) {
  uint32_t word = 0;
  if (by.inverse == 0.0f) return word;  // its product with infinity would be NaN
  for (int i = 0; i < 4; ++i) {
    const int quant = static_cast<int>(nearbyintf(x[i] * by.inverse));
    sum += quant;
    word |= (static_cast<uint32_t>(quant) & 255) << 8 * i;
  }
  return word;
}

}  // namespace heed::kernels::gpu
