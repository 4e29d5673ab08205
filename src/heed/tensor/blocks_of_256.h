#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "heed/tensor/block_traits.h"
#include "heed/tensor/blocks_of_32.h"
#include "heed/tensor/float16.h"

// GGML's types with blocks of 256 elements and sub-scales, as they lie in memory and in GGUF files
// (https://github.com/ggml-org/ggml, ggml-common.h). GGML subtracts minimums: sub-minimums are
// negative here.

namespace heed {

/// Bits 2 i of byte 32 half + l, for element 128 half + 32 i + l.
template <typename Bytes>
constexpr int two_bits(const Bytes& bytes, int64_t element) {
  const int64_t half = element / 128, i = element % 128 / 32;
  return bytes[static_cast<size_t>(32 * half + element % 32)] >> (2 * i) & 3;
}

/// Bit i of byte l, for element 32 i + l.
constexpr int one_bit(const std::array<uint8_t, 32>& bytes, int64_t element) {
  return bytes[static_cast<size_t>(element % 32)] >> (element / 32) & 1;
}

/// The low (i even) or high half of byte 32 (i / 2) + l, for element 32 i + l.
constexpr int four_bits(const std::array<uint8_t, 128>& bytes, int64_t element) {
  const int64_t i = element / 32;
  return bytes[static_cast<size_t>(i / 2 * 32 + element % 32)] >> (i % 2 * 4) & 15;
}

/// Stores the low four bits of codes where four_bits() finds them.
inline void set_four_bits(std::span<const uint8_t, 256> codes, std::array<uint8_t, 128>& bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    const size_t element = i / 32 * 64 + i % 32;
    bytes[i] = static_cast<uint8_t>((codes[element] & 15) | (codes[element + 32] & 15) << 4);
  }
}

/// 8 sub-scales and 8 sub-minimums of 6 bits: those of i < 4 are the low six bits of bytes i and
/// 4 + i. For i >= 4, byte 4 + i has their low four bits, the high bits of bytes i - 4 and i their
/// high two.
struct SixBitScales {
  std::array<uint8_t, 12> bytes;

  constexpr int scale(size_t i) const {
    return i < 4 ? bytes[i] & 63 : (bytes[i + 4] & 15) | bytes[i - 4] >> 6 << 4;
  }
  constexpr int minimum(size_t i) const {
    return i < 4 ? bytes[i + 4] & 63 : bytes[i + 4] >> 4 | bytes[i] >> 6 << 4;
  }
  /// Sets those of i, after those of all smaller i.
  void set(size_t i, int scale, int minimum) {
    const auto put = [&](size_t at, int keep, int bits) {
      bytes[at] = static_cast<uint8_t>((bytes[at] & keep) | bits);
    };
    if (i < 4) {
      put(i, 0, scale);
      put(i + 4, 0, minimum);
    } else {
      put(i + 4, 0, (scale & 15) | (minimum & 15) << 4);
      put(i - 4, 63, scale >> 4 << 6);
      put(i, 63, minimum >> 4 << 6);
    }
  }
};

/// Each byte of `scales` has a sub-scale in its low half and a sub-minimum in its high half.
struct BlockQ2_K {
  static constexpr int64_t kElements = 256;
  static constexpr BlockTraits kTraits{.dtype = DType::q2_K,
                                       .name = "q2_K",
                                       .ggml_type = 10,
                                       .gguf_file_type = 10,
                                       .elements = kElements,
                                       .bytes = 84,
                                       .bits = 2,
                                       .lowest = 0,
                                       .has_minimum = true,
                                       .sub_scale_elements = 16};
  std::array<uint8_t, 16> scales;
  std::array<uint8_t, 64> quants;
  float16 scale, minimum;

  constexpr int code(int64_t element) const { return two_bits(quants, element); }
  constexpr int sub_scale(int64_t element) const {
    return scales[static_cast<size_t>(element / 16)] & 15;
  }
  constexpr int sub_minimum(int64_t element) const {
    return -(scales[static_cast<size_t>(element / 16)] >> 4);
  }
};

/// Sub-scale i + 32 has its low four bits in byte i % 8 of `scales` (the high half if i >= 8), its
/// high two in bits 2 (i / 4) of byte 8 + i % 4.
struct BlockQ3_K {
  static constexpr int64_t kElements = 256;
  static constexpr BlockTraits kTraits{.dtype = DType::q3_K,
                                       .name = "q3_K",
                                       .ggml_type = 11,
                                       .gguf_file_type = 12,
                                       .elements = kElements,
                                       .bytes = 110,
                                       .bits = 3,
                                       .lowest = -4,
                                       .sub_scale_elements = 16};
  std::array<uint8_t, 32> high;
  std::array<uint8_t, 64> quants;
  std::array<uint8_t, 12> scales;
  float16 scale;

  constexpr int code(int64_t element) const {
    return two_bits(quants, element) | one_bit(high, element) << 2;
  }
  constexpr int sub_scale(int64_t element) const {
    const auto i = static_cast<size_t>(element / 16);
    const int four = scales[i % 8] >> (i / 8 * 4) & 15, two = scales[8 + i % 4] >> (i / 4 * 2) & 3;
    return (four | two << 4) - 32;
  }
};

struct BlockQ4_K {
  static constexpr int64_t kElements = 256;
  static constexpr BlockTraits kTraits{.dtype = DType::q4_K,
                                       .name = "q4_K",
                                       .ggml_type = 12,
                                       .gguf_file_type = 15,
                                       .elements = kElements,
                                       .bytes = 144,
                                       .bits = 4,
                                       .lowest = 0,
                                       .has_minimum = true,
                                       .sub_scale_elements = 32};
  float16 scale, minimum;
  SixBitScales scales;
  std::array<uint8_t, 128> quants;

  constexpr int code(int64_t element) const { return four_bits(quants, element); }
  void set_codes(std::span<const uint8_t, kElements> codes) { set_four_bits(codes, quants); }
  constexpr int sub_scale(int64_t element) const {
    return scales.scale(static_cast<size_t>(element / 32));
  }
  constexpr int sub_minimum(int64_t element) const {
    return -scales.minimum(static_cast<size_t>(element / 32));
  }
};

struct BlockQ5_K {
  static constexpr int64_t kElements = 256;
  static constexpr BlockTraits kTraits{.dtype = DType::q5_K,
                                       .name = "q5_K",
                                       .ggml_type = 13,
                                       .gguf_file_type = 17,
                                       .elements = kElements,
                                       .bytes = 176,
                                       .bits = 5,
                                       .lowest = 0,
                                       .has_minimum = true,
                                       .sub_scale_elements = 32};
  float16 scale, minimum;
  SixBitScales scales;
  std::array<uint8_t, 32> high;
  std::array<uint8_t, 128> quants;

  constexpr int code(int64_t element) const {
    return four_bits(quants, element) | one_bit(high, element) << 4;
  }
  void set_codes(std::span<const uint8_t, kElements> codes) {
    set_four_bits(codes, quants);
    high = {};
    for (size_t i = 0; i < codes.size(); ++i)
      high[i % 32] = static_cast<uint8_t>(high[i % 32] | codes[i] >> 4 << i / 32);
  }
  constexpr int sub_scale(int64_t element) const {
    return scales.scale(static_cast<size_t>(element / 32));
  }
  constexpr int sub_minimum(int64_t element) const {
    return -scales.minimum(static_cast<size_t>(element / 32));
  }
};

/// The low four bits of codes are in `low`, the high two in `high`. Within each half of 128
/// elements, element 32 i + l (i = 0..3) has them in bits 4 (i / 2) of low[32 (i % 2) + l] and bits
/// 2 i of high[l].
struct BlockQ6_K {
  static constexpr int64_t kElements = 256;
  static constexpr BlockTraits kTraits{.dtype = DType::q6_K,
                                       .name = "q6_K",
                                       .ggml_type = 14,
                                       .gguf_file_type = 18,
                                       .elements = kElements,
                                       .bytes = 210,
                                       .bits = 6,
                                       .lowest = -32,
                                       .sub_scale_elements = 16};
  std::array<uint8_t, 128> low;
  std::array<uint8_t, 64> high;
  std::array<int8_t, 16> scales;
  float16 scale;

  constexpr int code(int64_t element) const {
    const auto at = static_cast<size_t>(element);
    const size_t half = at / 128, i = at % 128 / 32, l = at % 32;
    return (low[64 * half + 32 * (i % 2) + l] >> (4 * (i / 2)) & 15) | two_bits(high, element) << 4;
  }
  void set_codes(std::span<const uint8_t, kElements> codes) {
    low = {};
    high = {};
    for (size_t at = 0; at < codes.size(); ++at) {
      const size_t half = at / 128, i = at % 128 / 32, l = at % 32;
      uint8_t& four = low[64 * half + 32 * (i % 2) + l];
      four = static_cast<uint8_t>(four | (codes[at] & 15) << (4 * (i / 2)));
      uint8_t& two = high[32 * half + l];
      two = static_cast<uint8_t>(two | codes[at] >> 4 << (2 * i));
    }
  }
  constexpr int sub_scale(int64_t element) const {
    return scales[static_cast<size_t>(element / 16)];
  }
};

/// Sub-scale i + 32 has its low four bits in half i % 2 of byte i / 2 of scales_low, its high two
/// in bits 2 i of scales_high.
struct BlockIQ4_XS {
  static constexpr int64_t kElements = 256;
  static constexpr BlockTraits kTraits{.dtype = DType::iq4_xs,
                                       .name = "iq4_xs",
                                       .ggml_type = 23,
                                       .gguf_file_type = 30,
                                       .elements = kElements,
                                       .bytes = 136,
                                       .bits = 4,
                                       .lowest = -128,
                                       .sub_scale_elements = 32,
                                       .codebook = BlockIQ4_NL::kCodebook};
  float16 scale;
  uint16_t scales_high;
  std::array<uint8_t, 4> scales_low;
  std::array<uint8_t, 128> quants;

  constexpr int code(int64_t element) const {
    return quants[static_cast<size_t>(element / 32 * 16 + element % 16)] >>
               (element % 32 / 16 * 4) &
           15;
  }
  constexpr int sub_scale(int64_t element) const {
    const auto i = static_cast<size_t>(element / 32);
    return ((scales_low[i / 2] >> (i % 2 * 4) & 15) | (scales_high >> (2 * i) & 3) << 4) - 32;
  }
};

/// In the order of DType.
using BlocksOf256 = TypeList<BlockQ2_K, BlockQ3_K, BlockQ4_K, BlockQ5_K, BlockQ6_K, BlockIQ4_XS>;

}  // namespace heed
