#pragma once

#include "heed/kernels/backend.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

namespace cpu {
struct MicroKernel;
}

/// A matrix factor: the tensor's [rows(), cols()] view, or its transpose.
struct Factor {
  const Tensor& matrix;
  bool transposed = false;

  int64_t rows() const { return transposed ? matrix.cols() : matrix.rows(); }
  int64_t cols() const { return transposed ? matrix.rows() : matrix.cols(); }
};

struct MatmulOptions {
  /// Add to what c holds instead of replacing it.
  bool accumulate = false;
  /// [N] f32, added to every row of the product; absent when not defined.
  Tensor bias = {};
};

/// Whether products of bf16 factors are faster here than those of f32 factors.
bool multiplies_bf16_faster();

/// c = a b + bias (+ c), with a [M, K], b [K, N] of one dtype (f32 or bf16) and c [M, N] of f32 or
/// bf16, which must overlap neither factor. Every element is one f32 sum, taken in the order of k,
/// that starts from the bias, from what c holds, or from c + bias, and is rounded once if c is
/// bf16: so it depends neither on M and N nor on the number of threads. Machines with instructions
/// for bf16 add its products in groups of 2 or 32 neighbouring k, and take subnormal numbers for
/// zero. Those with bf16 tiles (AMX) use them for f32 as well: each factor is split into three
/// parts of bf16, which loses nothing, and of the nine products of parts the three that are below
/// f32's rounding are left out (Henry, Tang and Heinecke 2019); there an infinite factor, or one
/// beyond 3.39e38, makes the sum NaN. Sizes are the caller's to check; throws Error when the
/// factors are not of one floating dtype.
HEED_KERNEL(void, matmul,
            (const Factor& a, const Factor& b, const MatmulOptions& options, Tensor& c),
            (a, b, options, c))

/// The right factor of many products, laid out once as the kernel wants to read it; no larger than
/// in panels.dtype(), but for columns and depths that are filled up.
struct PackedMatrix {
  Tensor panels;
  int64_t rows = 0;  // K
  int64_t cols = 0;  // N
  /// Whose layout it is; null: the reference's.
  const cpu::MicroKernel* kernel = nullptr;
  bool defined() const { return panels.defined(); }
};

/// Packs b [K, N].
HEED_KERNEL(PackedMatrix, pack, (const Factor& b), (b))

/// c = a b + bias (+ c), bit for bit what the product with the unpacked b gives. Throws Error when
/// b was packed by another backend or for another dtype than a's.
HEED_KERNEL(void, matmul_packed,
            (const Tensor& a, const PackedMatrix& b, const MatmulOptions& options, Tensor& c),
            (a, b, options, c))

}  // namespace heed::kernels
