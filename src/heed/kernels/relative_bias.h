#pragma once

#include <cstdint>
#include <span>

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// y[h, c] = table[rows[c], h]: the number of every head for the bucket of each distance (Raffel et
/// al. 2020, 2.1). table [B, H] f32; rows [C], each a valid row of the table (the caller checks);
/// y [H, C] f32.
HEED_KERNEL(relative_bias_forward,
            void(const Tensor& table, std::span<const int32_t> rows, Tensor& y));
/// d_table[rows[c], h] += dy[h, c], in the order of c.
HEED_KERNEL(relative_bias_backward,
            void(const Tensor& dy, std::span<const int32_t> rows, Tensor& d_table));

}  // namespace heed::kernels
