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

namespace cpu {
void embedding_forward(const EmbeddingForward& in, Tensor& y);
void embedding_backward(std::span<const int32_t> tokens, const Tensor& dy, float scale,
                        Tensor& d_table);
}  // namespace cpu

namespace reference {
void embedding_forward(const EmbeddingForward& in, Tensor& y);
void embedding_backward(std::span<const int32_t> tokens, const Tensor& dy, float scale,
                        Tensor& d_table);
}  // namespace reference

/// y[n] = scale * table[tokens[n]] + position_table[positions[n]]; y [N, D].
inline constexpr Kernel<void(const EmbeddingForward& in, Tensor& y)> embedding_forward{
    cpu::embedding_forward, reference::embedding_forward};
/// d_table[tokens[n]] += scale * dy[n]; d_table [V, D] f32. The order of the sum is fixed.
inline constexpr Kernel<void(std::span<const int32_t> tokens, const Tensor& dy, float scale,
                             Tensor& d_table)>
    embedding_backward{cpu::embedding_backward, reference::embedding_backward};

}  // namespace heed::kernels
