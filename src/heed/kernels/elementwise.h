#pragma once

#include <span>

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

namespace cpu {
void add_to(const Tensor& x, Tensor& y);
void scale(float factor, Tensor& y);
void convert(const Tensor& x, Tensor& y);
double sum_of_all_squares(std::span<const Tensor> tensors);
}  // namespace cpu

namespace reference {
void add_to(const Tensor& x, Tensor& y);
void scale(float factor, Tensor& y);
void convert(const Tensor& x, Tensor& y);
double sum_of_all_squares(std::span<const Tensor> tensors);
}  // namespace reference

/// y += x; the dtypes (f32, bf16) may differ.
inline constexpr Kernel<void(const Tensor& x, Tensor& y)> add_to{cpu::add_to, reference::add_to};
/// y *= factor.
inline constexpr Kernel<void(float factor, Tensor& y)> scale{cpu::scale, reference::scale};
/// y = x in y's dtype, rounded to nearest even.
inline constexpr Kernel<void(const Tensor& x, Tensor& y)> convert{cpu::convert, reference::convert};
/// The sum of the squares of all elements of all tensors, in double precision and a fixed order.
/// Tensors are f32; undefined ones have no elements.
inline constexpr Kernel<double(std::span<const Tensor> tensors)> sum_of_all_squares{
    cpu::sum_of_all_squares, reference::sum_of_all_squares};
/// The same for one tensor.
inline double sum_of_squares(const Tensor& x) { return sum_of_all_squares({&x, 1}); }

}  // namespace heed::kernels
