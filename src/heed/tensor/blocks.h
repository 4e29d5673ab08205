#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "heed/tensor/bfloat16.h"
#include "heed/tensor/float16.h"

namespace heed {

/// How elements are stored. Arithmetic is done in f32 and bf16; the other types only store weights
/// (i32: indices). Those from q4_0 on are GGML's block types.
enum class DType : uint8_t { f32, bf16, f16, i32, q4_0, q4_1, q8_0, q6_K };

/// The properties of a stored type. A block is the unit of storage; that of a plain type is one
/// element.
///
/// Element i of a quantised block is scale * sub_scale(i) * quant(i) + minimum, where quant(i) is
/// an integer of `bits` bits that is stored as quant(i) - lowest, and types without sub-scales or
/// without a minimum lack that term.
struct BlockTraits {
  DType dtype;
  std::string_view name;
  uint32_t ggml_type;  // GGML's number, as in GGUF files
  int gguf_file_type;  // GGML's number for files that are mostly of this type; -1: there is none
  int64_t elements = 1, bytes;
  int bits = 0;    // of a quant; 0: a plain type
  int lowest = 0;  // the lowest quant
  bool has_minimum = false;
  int64_t sub_scale_elements = 0;  // that share an 8-bit sub-scale; 0: there are none

  constexpr bool is_plain() const { return elements == 1; }
  constexpr bool has_sub_scales() const { return sub_scale_elements != 0; }
};

/// The low (i < 16) or high half of byte i % 16: how types of 4 bits store 32 quants.
template <typename Bytes>
constexpr int nibble(const Bytes& bytes, int64_t i) {
  return bytes[static_cast<size_t>(i % 16)] >> (i / 16 * 4) & 15;
}

// GGML's block types as they lie in memory and in GGUF files: consecutive elements of a row that
// share a scale (https://github.com/ggml-org/ggml, ggml-common.h). To add one: an enumerator, its
// struct and its place in BlockTypes below; unit_of() in kernels/cpu/simd/stored-inl.h; put_block()
// in kernels/cpu/gemm_blocks/pack.cc; and out of kUnsupportedTypes in io/gguf_types.cc. heed also
// writes types without sub-scales, which need set_quants().

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

  int quant(int64_t i) const { return nibble(quants, i) - 8; }
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

  int quant(int64_t i) const { return nibble(quants, i); }
  void set_quants(std::span<const int8_t, kElements> from) {
    for (size_t i = 0; i < quants.size(); ++i)
      quants[i] = static_cast<uint8_t>(from[i] | from[i + 16] << 4);
  }
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

  int quant(int64_t i) const { return quants[static_cast<size_t>(i)]; }
};

/// The low four bits of quants + 32 are in `low`, the high two in `high`. Within each half of 128
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

  int quant(int64_t element) const {
    const auto at = static_cast<size_t>(element);
    const size_t half = at / 128, i = at % 128 / 32, l = at % 32;
    const int four = low[64 * half + 32 * (i % 2) + l] >> (4 * (i / 2)) & 15;
    const int two = high[32 * half + l] >> (2 * i) & 3;
    return (four | two << 4) - 32;
  }
  int sub_scale(int64_t element) const { return scales[static_cast<size_t>(element / 16)]; }
};

/// A list of types.
template <typename... Types>
struct TypeList {
  static constexpr size_t size = sizeof...(Types);
};

/// Every block type, in the order of DType.
using BlockTypes = TypeList<BlockQ4_0, BlockQ4_1, BlockQ8_0, BlockQ6_K>;

/// The traits of every DType, in its order.
inline constexpr auto kStoredTypes = []<typename... Blocks>(TypeList<Blocks...>) {
  static_assert(((sizeof(Blocks) == Blocks::kTraits.bytes && alignof(Blocks) == 2) && ...));
  return std::array{
      BlockTraits{
          .dtype = DType::f32, .name = "f32", .ggml_type = 0, .gguf_file_type = 0, .bytes = 4},
      BlockTraits{
          .dtype = DType::bf16, .name = "bf16", .ggml_type = 30, .gguf_file_type = 32, .bytes = 2},
      BlockTraits{
          .dtype = DType::f16, .name = "f16", .ggml_type = 1, .gguf_file_type = 1, .bytes = 2},
      BlockTraits{
          .dtype = DType::i32, .name = "i32", .ggml_type = 26, .gguf_file_type = -1, .bytes = 4},
      Blocks::kTraits...};
}(BlockTypes());

constexpr const BlockTraits& traits_of(DType dtype) {
  return kStoredTypes[static_cast<size_t>(dtype)];
}

static_assert([] {
  for (size_t i = 0; i < kStoredTypes.size(); ++i)
    if (kStoredTypes[i].dtype != static_cast<DType>(i)) return false;
  return true;
}());

}  // namespace heed
