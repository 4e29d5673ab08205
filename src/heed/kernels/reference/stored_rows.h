#pragma once

#include <cstdint>

#include "heed/tensor/dtype.h"

namespace heed::kernels::reference {

/// Element `i` of a row, by the equations of tensor/blocks.h.
inline float stored_element(const float* row, int64_t i) { return row[i]; }
inline float stored_element(const bfloat16* row, int64_t i) { return static_cast<float>(row[i]); }
inline float stored_element(const float16* row, int64_t i) { return static_cast<float>(row[i]); }

/// The four bits that element `i` of a block has.
template <typename Block>
int nibble(const Block& block, int64_t i) {
  const int byte = block.quants[static_cast<size_t>(i % 16)];
  return i < 16 ? byte & 15 : byte >> 4;
}

inline float stored_element(const BlockQ4_0* row, int64_t i) {
  const BlockQ4_0& block = row[i / 32];
  return static_cast<float>(block.scale) * static_cast<float>(nibble(block, i % 32) - 8);
}

inline float stored_element(const BlockQ4_1* row, int64_t i) {
  const BlockQ4_1& block = row[i / 32];
  return static_cast<float>(block.scale) * static_cast<float>(nibble(block, i % 32)) +
         static_cast<float>(block.minimum);
}

inline float stored_element(const BlockQ8_0* row, int64_t i) {
  const BlockQ8_0& block = row[i / 32];
  return static_cast<float>(block.scale) *
         static_cast<float>(block.quants[static_cast<size_t>(i % 32)]);
}

inline float stored_element(const BlockQ6_K* row, int64_t i) {
  const BlockQ6_K& block = row[i / 256];
  const auto at = static_cast<size_t>(i % 256), half = at / 128, part = at % 128 / 32, l = at % 32;
  const int low = block.low[64 * half + 32 * (part % 2) + l] >> (4 * (part / 2)) & 15;
  const int high = block.high[32 * half + l] >> (2 * part) & 3;
  const float scale = static_cast<float>(block.scale) * static_cast<float>(block.scales[at / 16]);
  return scale * static_cast<float>((low | high << 4) - 32);
}

}  // namespace heed::kernels::reference
