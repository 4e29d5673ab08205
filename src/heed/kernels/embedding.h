#pragma once

#include <cstdint>
#include <span>

#include "heed/kernels/backend.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// y[n] = scale * table[tokens[n]] + position_table[positions[n]].
/// tokens, positions [N], each below its table's number of rows (the caller checks); table [V, D]
/// in the dtype of y [N, D]; position_table [P, D] f32, absent when not defined (positions then
/// unused).
struct EmbeddingForward {
  std::span<const int32_t> tokens, positions;
  const Tensor &table, &position_table;
  float scale = 1.0f;
};
HEED_KERNEL(void, embedding_forward, (const EmbeddingForward& in, Tensor& y), (in, y))

/// d_table[tokens[n]] += scale * dy[n]; d_table [V, D] f32. The order of the sum is fixed.
HEED_KERNEL(void, embedding_backward,
            (std::span<const int32_t> tokens, const Tensor& dy, float scale, Tensor& d_table),
            (tokens, dy, scale, d_table))

}  // namespace heed::kernels
