#pragma once

#include <cstdint>
#include <span>

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// tokens, positions [N], each a valid row of its table (the caller checks). table [V, D] in the
/// dtype of the result; position_table [P, D] f32. An undefined position_table is absent, and
/// positions are then unused.
struct EmbeddingForward {
  std::span<const int32_t> tokens, positions;
  const Tensor &table, &position_table;
  float scale = 1.0f;
};

/// y[n] = scale * table[tokens[n]] + position_table[positions[n]]; y [N, D].
HEED_KERNEL(embedding_forward, void(const EmbeddingForward& in, Tensor& y));
/// d_table[tokens[n]] += scale * dy[n]; d_table [V, D] f32. The order of the sum is fixed.
HEED_KERNEL(embedding_backward,
            void(std::span<const int32_t> tokens, const Tensor& dy, float scale, Tensor& d_table));

}  // namespace heed::kernels
