#pragma once

#include <cstdint>
#include <span>

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

// Groups of rows of x [N, D] f32 become one row each: group b has the rows [offsets[b],
// offsets[b + 1]), of which there is one at least. offsets [B + 1], y [B, D] f32.
namespace heed::kernels {

/// y[b] = the sum of weights[n] * x[n] over the rows n of b, in their order. weights [N].
HEED_KERNEL(sum_rows, void(const Tensor& x, std::span<const int32_t> offsets,
                           std::span<const float> weights, Tensor& y));
/// dx[n] += weights[n] * dy[b] for every row n of b.
HEED_KERNEL(sum_rows_backward, void(const Tensor& dy, std::span<const int32_t> offsets,
                                    std::span<const float> weights, Tensor& dx));

/// y[b, c] = the largest x[n, c] of the rows n of b.
HEED_KERNEL(max_rows, void(const Tensor& x, std::span<const int32_t> offsets, Tensor& y));
/// dx[n, c] += dy[b, c] for the first row n of b with x[n, c] = y[b, c].
HEED_KERNEL(max_rows_backward, void(const Tensor& x, const Tensor& y, const Tensor& dy,
                                    std::span<const int32_t> offsets, Tensor& dx));

}  // namespace heed::kernels
