#pragma once

#include <cstdint>
#include <span>

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// y[b] = the mean of the rows [offsets[b], offsets[b + 1]) of x, of which there is one at least:
/// the sum of row / count in the order of the rows. x [N, D], y [B, D] f32, offsets [B + 1].
HEED_KERNEL(mean_rows, void(const Tensor& x, std::span<const int32_t> offsets, Tensor& y));
/// dx[n] += dy[b] / count for every row n of b.
HEED_KERNEL(mean_rows_backward,
            void(const Tensor& dy, std::span<const int32_t> offsets, Tensor& dx));

}  // namespace heed::kernels
