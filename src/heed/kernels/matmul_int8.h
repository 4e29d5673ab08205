#pragma once

#include <memory>
#include <span>

#include "heed/kernels/backend.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// A weight of integers of 8 bits with a scale for each of its rows, laid out once as integer
/// products want to read it.
struct PackedInt8 {
  std::shared_ptr<std::byte> panels;
  int64_t rows = 0, cols = 0;  // N, K
  /// What the reference reads, in place of panels.
  Tensor weight;
  bool defined() const { return panels || weight.defined(); }
};

/// The most elements of a row that matmul_int8 multiplies: their sum stays within 32 bits.
inline constexpr int64_t kMostInt8Cols = int64_t{1} << 17;

/// Makes integers of weight [N, K] of any stored dtype, row by row: x * (1 / scale) to the nearest,
/// with scale = max |x| / 127. (Where one is not finite, the scale is NaN; where 1 / scale is not,
/// all are zeros.) Of q8_0 they are rounded once more than in its blocks. Throws Error when K is
/// greater than kMostInt8Cols.
HEED_KERNEL(PackedInt8, pack_int8, (const Tensor& weight), (weight))

/// c = a weight^T + bias with a quantised on the way, as weights are: each row of a has one scale.
/// a [M, K] of f32 or bf16, bias [N] f32 or absent, c [M, N] of f32 or bf16, which must not overlap
/// them.
///
/// An element of c is dot * (a's scale * weight's scale) + bias, where `dot` is an exact integer
/// and each step rounded to f32, and to bf16 at the end if c is. So the bits depend neither on M
/// and N, nor on the number of threads, nor on the machine: cpu and reference agree. Beside blocks
/// of 32 with a scale each (matmul_blocks.h), sums need not be taken apart into floats on their
/// way, which is several times as fast for many rows, but coarser where the numbers of a row differ
/// much.
///
/// Sizes are the caller's to check; throws Error when a dtype is not one of these, and when the
/// weight was packed by another backend.
HEED_KERNEL(void, matmul_int8,
            (const Tensor& a, const PackedInt8& weight, const Tensor& bias, Tensor& c),
            (a, weight, bias, c))

/// One of several such products with the same a.
struct Int8Product {
  const PackedInt8* weight;
  const Tensor* bias;
  Tensor* c;
};

/// All of them, bit for bit as one by one: a is quantised once, and threads meet once.
HEED_KERNEL(void, matmul_int8, (const Tensor& a, std::span<const Int8Product> products),
            (a, products))

}  // namespace heed::kernels
