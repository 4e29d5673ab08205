#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "heed/tensor/block_traits.h"
#include "heed/tensor/blocks_of_256.h"
#include "heed/tensor/blocks_of_32.h"

namespace heed {

template <typename... First, typename... Second>
TypeList<First..., Second...> joined(TypeList<First...>, TypeList<Second...>);

/// Every block type, in the order of DType. To add one: its enumerator (block_traits.h), its struct
/// and place in a list (blocks_of_32.h, blocks_of_256.h), codes_of() in
/// kernels/cpu/simd/stored-inl.h and put_block() in kernels/cpu/gemm_blocks/put_block-inl.h. Types
/// that heed writes (kernels::is_written()) also need set_quants() or set_codes(). io/gguf_types.cc
/// names the types of GGML that are not here.
using BlockTypes = decltype(joined(BlocksOf32(), BlocksOf256()));

/// Quant i of a block.
template <typename Block>
constexpr int quant_of(const Block& block, int64_t i) {
  if constexpr (Block::kTraits.has_codebook())
    return (*Block::kTraits.codebook)[static_cast<size_t>(block.code(i))];
  else
    return block.code(i) + Block::kTraits.lowest;
}

/// The scale of a block. That of MXFP4 is half the power of two, since its quants are doubled.
template <typename Block>
constexpr float scale_of(const Block& block) {
  if constexpr (Block::kTraits.dtype == DType::mxfp4) {
    const uint32_t exponent = block.exponent;  // the two lowest are those of subnormal numbers
    return std::bit_cast<float>(exponent < 2 ? 0x200000u << exponent : (exponent - 1) << 23);
  } else
    return static_cast<float>(block.scale);
}

/// The minimum of element i of a block whose type has minimums.
template <typename Block>
constexpr float minimum_of(const Block& block, int64_t i) {
  const auto minimum = static_cast<float>(block.minimum);
  if constexpr (Block::kTraits.has_sub_scales())
    return minimum * static_cast<float>(block.sub_minimum(i));
  else
    return minimum;
}

/// The traits of every DType, in its order.
inline constexpr auto kStoredTypes = []<typename... Blocks>(TypeList<Blocks...>) {
  static_assert(((sizeof(Blocks) == Blocks::kTraits.bytes && alignof(Blocks) <= 2) && ...));
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
