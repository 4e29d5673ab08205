#pragma once

#include "heed/gpu/code/operations.h"
#include "heed/kernels/gpu/code/blocks/block_types.h"
#include "heed/kernels/gpu/code/numbers.h"
#include "heed/tensor/blocks.h"

// Elements of stored weights, of any dtype, as kernels read them in place: the structs and
// accessors of tensor/blocks.h, and what replaces those that a GPU cannot run.

namespace heed::kernels::gpu {

/// Whether T is a block, not an element of a plain type.
template <typename T>
inline constexpr bool kIsBlock = requires {
  T::kElements;
};

/// Four bytes of a codebook, as a word.
template <typename Block>
constexpr uint32_t codebook_word(unsigned i) {
  constexpr Codebook kBook = *Block::kTraits.codebook;
  uint32_t word = 0;
  for (unsigned byte = 0; byte < 4; ++byte)
    word |= static_cast<uint32_t>(static_cast<uint8_t>(kBook[4 * i + byte])) << 8 * byte;
  return word;
}

/// Quant i of a block: tensor/blocks.h's quant_of(), with a codebook that lies in registers.
template <typename Block>
HEED_DEVICE int quant_in(const Block& block, int i) {
  const int code = block.code(i);
  if constexpr (Block::kTraits.has_codebook()) {
    constexpr uint32_t kWords[4] = {codebook_word<Block>(0), codebook_word<Block>(1),
                                    codebook_word<Block>(2), codebook_word<Block>(3)};
    const uint32_t low = code & 4 ? kWords[1] : kWords[0], high = code & 4 ? kWords[3] : kWords[2];
    return static_cast<int8_t>((code & 8 ? high : low) >> 8 * (code & 3) & 255);
  } else {
    constexpr int kLowest = Block::kTraits.lowest;
    return code + kLowest;
  }
}

/// Four consecutive elements, from a multiple of 4 on, as dequantize() converts them: bit by bit.
template <typename T>
HEED_DEVICE void widen_four(const T* row, int64_t first, float (&to)[4]) {
  if constexpr (!kIsBlock<T>) {
    for (int i = 0; i < 4; ++i) to[i] = wide(row[first + i]);
  } else {
    const T& block = row[first / T::kElements];
    const int at = static_cast<int>(first % T::kElements);
    constexpr DType kType = T::kTraits.dtype;
    constexpr bool kSubScales = T::kTraits.has_sub_scales(), kMinimum = T::kTraits.has_minimum;
    float scale = scale_of(block), minimum = 0.0f;
    if constexpr (kSubScales) scale *= static_cast<float>(block.sub_scale(at));
    if constexpr (kMinimum) minimum = minimum_of(block, at);
    for (int i = 0; i < 4; ++i) {
      // Their products are exact, so that it does not matter whether they are rounded.
      if constexpr (kMinimum)
        to[i] = fmaf(static_cast<float>(quant_in(block, at + i)), scale, minimum);
      else if constexpr (kType == DType::q4_0)  // zeros are positive
        to[i] = fmaf(static_cast<float>(block.code(at + i)), scale, scale * -8.0f);
      else
        to[i] = static_cast<float>(quant_in(block, at + i)) * scale;
    }
  }
}

}  // namespace heed::kernels::gpu
