#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "heed/tensor/block_traits.h"
#include "heed/tensor/float16.h"

// GGML's types with blocks of 32 elements, as they lie in memory and in GGUF files
// (https://github.com/ggml-org/ggml, ggml-common.h).

namespace heed {

/// The low (i < 16) or high half of byte i % 16: how types of 4 bits store 32 codes.
template <typename Bytes>
constexpr int nibble(const Bytes& bytes, int64_t i) {
  return bytes[static_cast<size_t>(i % 16)] >> (i / 16 * 4) & 15;
}

/// Bit i of an array of bytes.
template <typename Bytes>
constexpr int bit(const Bytes& bytes, int64_t i) {
  return bytes[static_cast<size_t>(i / 8)] >> (i % 8) & 1;
}

/// Stores 32 quants in 5 bits each.
template <int lowest>
void set_five_bits(std::span<const int8_t, 32> from, std::array<uint8_t, 4>& high,
                   std::array<uint8_t, 16>& low) {
  high = {};
  for (size_t i = 0; i < from.size(); ++i) {
    const int code = from[i] - lowest;
    high[i / 8] = static_cast<uint8_t>(high[i / 8] | code >> 4 << i % 8);
    if (i < low.size())
      low[i] = static_cast<uint8_t>(code & 15);
    else
      low[i - low.size()] = static_cast<uint8_t>(low[i - low.size()] | (code & 15) << 4);
  }
}

struct BlockQ4_0 {
  static constexpr int64_t kElements = 32;
  static constexpr BlockTraits kTraits{.dtype = DType::q4_0,
                                       .name = "q4_0",
                                       .ggml_type = 2,
                                       .gguf_file_type = 2,
                                       .elements = kElements,
                                       .bytes = 18,
                                       .bits = 4,
                                       .lowest = -8};
  float16 scale;
  std::array<uint8_t, 16> quants;

  constexpr int code(int64_t i) const { return nibble(quants, i); }
  void set_quants(std::span<const int8_t, kElements> from) {
    for (size_t i = 0; i < quants.size(); ++i)
      quants[i] = static_cast<uint8_t>((from[i] + 8) | (from[i + 16] + 8) << 4);
  }
};

struct BlockQ4_1 {
  static constexpr int64_t kElements = 32;
  static constexpr BlockTraits kTraits{.dtype = DType::q4_1,
                                       .name = "q4_1",
                                       .ggml_type = 3,
                                       .gguf_file_type = 3,
                                       .elements = kElements,
                                       .bytes = 20,
                                       .bits = 4,
                                       .lowest = 0,
                                       .has_minimum = true};
  float16 scale, minimum;
  std::array<uint8_t, 16> quants;

  constexpr int code(int64_t i) const { return nibble(quants, i); }
  void set_quants(std::span<const int8_t, kElements> from) {
    for (size_t i = 0; i < quants.size(); ++i)
      quants[i] = static_cast<uint8_t>(from[i] | from[i + 16] << 4);
  }
};

/// Bit i of `high` is the highest bit of code i.
struct BlockQ5_0 {
  static constexpr int64_t kElements = 32;
  static constexpr BlockTraits kTraits{.dtype = DType::q5_0,
                                       .name = "q5_0",
                                       .ggml_type = 6,
                                       .gguf_file_type = 8,
                                       .elements = kElements,
                                       .bytes = 22,
                                       .bits = 5,
                                       .lowest = -16};
  float16 scale;
  std::array<uint8_t, 4> high;
  std::array<uint8_t, 16> quants;

  constexpr int code(int64_t i) const { return nibble(quants, i) | bit(high, i) << 4; }
  void set_quants(std::span<const int8_t, kElements> from) {
    set_five_bits<-16>(from, high, quants);
  }
};

struct BlockQ5_1 {
  static constexpr int64_t kElements = 32;
  static constexpr BlockTraits kTraits{.dtype = DType::q5_1,
                                       .name = "q5_1",
                                       .ggml_type = 7,
                                       .gguf_file_type = 9,
                                       .elements = kElements,
                                       .bytes = 24,
                                       .bits = 5,
                                       .lowest = 0,
                                       .has_minimum = true};
  float16 scale, minimum;
  std::array<uint8_t, 4> high;
  std::array<uint8_t, 16> quants;

  constexpr int code(int64_t i) const { return nibble(quants, i) | bit(high, i) << 4; }
  void set_quants(std::span<const int8_t, kElements> from) { set_five_bits<0>(from, high, quants); }
};

struct BlockQ8_0 {
  static constexpr int64_t kElements = 32;
  static constexpr BlockTraits kTraits{.dtype = DType::q8_0,
                                       .name = "q8_0",
                                       .ggml_type = 8,
                                       .gguf_file_type = 7,
                                       .elements = kElements,
                                       .bytes = 34,
                                       .bits = 8,
                                       .lowest = -128};
  float16 scale;
  std::array<int8_t, 32> quants;

  constexpr int code(int64_t i) const { return quants[static_cast<size_t>(i)] + 128; }
};

/// Quants are spaced like those of a normal distribution.
struct BlockIQ4_NL {
  static constexpr int64_t kElements = 32;
  static constexpr Codebook kCodebook{-127, -104, -83, -65, -49, -35, -22, -10,
                                      1,    13,   25,  38,  53,  69,  89,  113};
  static constexpr BlockTraits kTraits{.dtype = DType::iq4_nl,
                                       .name = "iq4_nl",
                                       .ggml_type = 20,
                                       .gguf_file_type = 25,
                                       .elements = kElements,
                                       .bytes = 18,
                                       .bits = 4,
                                       .lowest = -128,
                                       .codebook = kCodebook};
  float16 scale;
  std::array<uint8_t, 16> quants;

  constexpr int code(int64_t i) const { return nibble(quants, i); }
};

/// Floating-point numbers of 4 bits (E2M1) with a shared exponent (Open Compute Project,
/// Microscaling Formats 1.0). The codebook has them doubled, so that they are integers.
struct BlockMXFP4 {
  static constexpr int64_t kElements = 32;
  static constexpr Codebook kCodebook{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  static constexpr BlockTraits kTraits{.dtype = DType::mxfp4,
                                       .name = "mxfp4",
                                       .ggml_type = 39,
                                       .gguf_file_type = 38,
                                       .elements = kElements,
                                       .bytes = 17,
                                       .bits = 4,
                                       .lowest = -128,
                                       .codebook = kCodebook};
  uint8_t exponent;
  std::array<uint8_t, 16> quants;

  constexpr int code(int64_t i) const { return nibble(quants, i); }
};

/// In the order of DType.
using BlocksOf32 =
    TypeList<BlockQ4_0, BlockQ4_1, BlockQ5_0, BlockQ5_1, BlockQ8_0, BlockIQ4_NL, BlockMXFP4>;

}  // namespace heed
