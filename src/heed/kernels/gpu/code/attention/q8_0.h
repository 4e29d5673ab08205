#pragma once

#include "heed/kernels/gpu/code/numbers.h"

// Blocks of q8_0 as GGML stores them.

namespace heed::kernels::gpu {

/// 32 numbers: an f16 scale and bytes.
struct BlockQ8_0 {
  uint16_t scale;
  uint16_t quants[16];  // two at a time
};

/// The bits of float16(value) (tensor/float16.h), of a number that is not negative, or NaN.
HEED_DEVICE uint16_t narrow_f16(float value) {
  using namespace heed::gpu;
  const uint32_t magnitude = bits_of_float(value) & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7e00;
  if (magnitude >= 0x477ff000u) return 0x7c00;
  if (magnitude < 0x38800000u)
    return static_cast<uint16_t>(bits_of_float(float_of_bits(magnitude) + 0.5f) -
                                 bits_of_float(0.5f));
  const uint32_t even = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>((even - ((127u - 15u) << 23)) >> 13);
}

HEED_DEVICE void widen(const BlockQ8_0& block, float* to) {
  const float scale = wide(F16{block.scale});
  for (int i = 0; i < 16; ++i) {
    const uint32_t both = block.quants[i];
    to[2 * i] = scale * static_cast<float>(static_cast<int8_t>(both & 255));
    to[2 * i + 1] = scale * static_cast<float>(static_cast<int8_t>(both >> 8));
  }
}

/// The block of 32 numbers, with the bytes of the CPU. If one is not finite or too large, the block
/// is NaN and this returns false.
HEED_DEVICE bool put_q8_0(const float (&x)[32], BlockQ8_0* block) {
  float largest = 0.0f;
  for (int i = 0; i < 32; ++i) {
    const float size = fabsf(x[i]);
    largest = size > largest || size != size ? size : largest;
  }
  const float scale = largest / 127.0f, inverse = 1.0f / scale;
  const uint16_t bits = narrow_f16(scale);
  const float factor = inverse - inverse == 0.0f ? inverse : 0.0f;
  block->scale = bits < 0x7c00 ? bits : 0x7e00;
  for (int i = 0; i < 16; ++i) {
    uint32_t both = 0;
    for (int j = 0; j < 2; ++j) {
      float level = roundf(x[2 * i + j] * factor);
      level = level < 127.0f ? level : 127.0f;
      level = level > -127.0f ? level : -127.0f;
      both |= static_cast<uint32_t>(static_cast<uint8_t>(static_cast<int8_t>(level))) << 8 * j;
    }
    block->quants[i] = static_cast<uint16_t>(both);
  }
  return bits < 0x7c00;
}

}  // namespace heed::kernels::gpu
