#pragma once

#include <bit>
#include <cstdint>

namespace heed {

/// IEEE 754 binary16: 5 bits of exponent, 10 of significand. A storage type; arithmetic is f32.
struct float16 {
  uint16_t bits = 0;

  float16() = default;

  /// Rounds to nearest, ties to even. Values too large become infinity; NaN stays NaN.
  explicit float16(float value) {
    const uint32_t u = std::bit_cast<uint32_t>(value);
    const uint32_t sign = (u >> 16) & 0x8000u, magnitude = u & 0x7fffffffu;
    bits = static_cast<uint16_t>(sign | rounded(magnitude));
  }

  constexpr explicit operator float() const {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
    if (magnitude < 0x0400u) {  // zero and subnormal numbers
      const uint32_t wide = std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
      return std::bit_cast<float>(sign | wide);
    }
    const uint32_t exponent = magnitude < 0x7c00u ? (127u - 15u) << 23 : (255u - 31u) << 23;
    return std::bit_cast<float>(sign | ((magnitude << 13) + exponent));
  }

 private:
  /// The bits of the f16 nearest to a positive f32, given its bits.
  static uint32_t rounded(uint32_t magnitude) {
    if (magnitude > 0x7f800000u) return 0x7e00u | ((magnitude >> 13) & 0x3ffu);  // quiet NaN
    if (magnitude >= 0x477ff000u) return 0x7c00u;  // from halfway between 65504 and 65536 on
    if (magnitude < 0x38800000u) {                 // below 2^-14: a multiple of 2^-24
      // In the sum the last bit is worth 2^-24, so the addition does the rounding.
      const float sum = std::bit_cast<float>(magnitude) + 0.5f;
      return std::bit_cast<uint32_t>(sum) - std::bit_cast<uint32_t>(0.5f);
    }
    const uint32_t even = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    return (even - ((127u - 15u) << 23)) >> 13;
  }
};

static_assert(sizeof(float16) == 2);

}  // namespace heed
