#pragma once

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

namespace cpu {
void softmax_forward(const Tensor& x, Tensor& y);
void softmax_backward(const Tensor& y, const Tensor& dy, Tensor& dx);
void log_softmax(const Tensor& x, Tensor& y);
}  // namespace cpu

namespace reference {
void softmax_forward(const Tensor& x, Tensor& y);
void softmax_backward(const Tensor& y, const Tensor& dy, Tensor& dx);
void log_softmax(const Tensor& x, Tensor& y);
}  // namespace reference

/// y = exp(x - max) / sum over each row of x [N, D]; one dtype. Elements may be minus infinity; a
/// row of nothing else gives zeros. A NaN makes its whole row NaN.
inline constexpr Kernel<void(const Tensor& x, Tensor& y)> softmax_forward{
    cpu::softmax_forward, reference::softmax_forward};
/// dx = y * (dy - sum(y * dy)) over each row.
inline constexpr Kernel<void(const Tensor& y, const Tensor& dy, Tensor& dx)> softmax_backward{
    cpu::softmax_backward, reference::softmax_backward};
/// y = x - max - log(sum(exp(x - max))) over each row, f32; y may be x. A row of nothing but minus
/// infinity stays as it is.
inline constexpr Kernel<void(const Tensor& x, Tensor& y)> log_softmax{cpu::log_softmax,
                                                                      reference::log_softmax};

}  // namespace heed::kernels
