#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace heed {

/// How elements are stored. Arithmetic is done in f32 and bf16; the other types only store weights
/// (i32: indices). Those from q4_0 on are GGML's block types.
enum class DType : uint8_t {
  f32,
  bf16,
  f16,
  i32,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  iq4_nl,
  mxfp4,
  q2_K,
  q3_K,
  q4_K,
  q5_K,
  q6_K,
  iq4_xs
};

/// A list of types.
template <typename... Types>
struct TypeList {
  static constexpr size_t size = sizeof...(Types);
};

/// The 16 quants of a type that stores their indices.
using Codebook = std::array<int8_t, 16>;

/// The properties of a stored type. A block is the unit of storage; that of a plain type is one
/// element.
///
/// Element i of a quantised block is
///   scale * sub_scale(i) * quant(i) + minimum * sub_minimum(i),
/// where quant(i) is code(i) + lowest, or codebook[code(i)], and a code has `bits` bits. Types
/// without sub-scales or without a minimum lack these terms.
struct BlockTraits {
  DType dtype;
  std::string_view name;
  uint32_t ggml_type;  // GGML's number, as in GGUF files
  int gguf_file_type;  // GGML's number for files that are mostly of this type; -1: there is none
  int64_t elements = 1, bytes;
  int bits = 0;    // of a code; 0: a plain type
  int lowest = 0;  // the lowest quant, or a lower bound
  bool has_minimum = false;
  int64_t sub_scale_elements = 0;  // that share a sub-scale (and sub-minimum): 16, 32; 0: none
  std::optional<Codebook> codebook = {};

  constexpr bool is_plain() const { return elements == 1; }
  constexpr bool has_sub_scales() const { return sub_scale_elements != 0; }
  constexpr bool has_codebook() const { return codebook.has_value(); }
};

}  // namespace heed
