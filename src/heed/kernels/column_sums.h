#pragma once

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

namespace cpu {
void column_sums(const Tensor& x, Tensor& sums);
}
namespace reference {
void column_sums(const Tensor& x, Tensor& sums);
}

/// sums[d] += the sum over n of x[n, d]: the gradient of a bias. x [N, D] f32 or bf16; sums [D]
/// f32. The order of the sum is fixed.
inline constexpr Kernel<void(const Tensor& x, Tensor& sums)> column_sums{cpu::column_sums,
                                                                         reference::column_sums};

}  // namespace heed::kernels
