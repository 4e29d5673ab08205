#pragma once

#include <cstdint>
#include <span>

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

namespace cpu {
void gather_rows(const Tensor& x, std::span<const int32_t> rows, Tensor& y);
void add_rows(const Tensor& x, std::span<const int32_t> rows, Tensor& y);
}  // namespace cpu

namespace reference {
void gather_rows(const Tensor& x, std::span<const int32_t> rows, Tensor& y);
void add_rows(const Tensor& x, std::span<const int32_t> rows, Tensor& y);
}  // namespace reference

/// y[i] = x[rows[i]]; y [M, D], rows [M], each a valid row of x (the caller checks).
inline constexpr Kernel<void(const Tensor& x, std::span<const int32_t> rows, Tensor& y)>
    gather_rows{cpu::gather_rows, reference::gather_rows};
/// y[rows[i]] += x[i], in the order of i; a row may occur several times.
inline constexpr Kernel<void(const Tensor& x, std::span<const int32_t> rows, Tensor& y)> add_rows{
    cpu::add_rows, reference::add_rows};

}  // namespace heed::kernels
