#pragma once

#include <bit>
#include <cstdint>

namespace heed {

/// The upper half of an f32: 8 bits of exponent, 7 of mantissa. A storage type; arithmetic is f32.
struct bfloat16 {
  uint16_t bits = 0;

  bfloat16() = default;

  /// Rounds to nearest, ties to even; NaN stays NaN.
  explicit bfloat16(float value) {
    const uint32_t u = std::bit_cast<uint32_t>(value);
    const bool nan = (u & 0x7fffffffu) > 0x7f800000u;
    bits = static_cast<uint16_t>(nan ? (u >> 16) | 0x40u : (u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }

  explicit operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
};

static_assert(sizeof(bfloat16) == 2);

}  // namespace heed
