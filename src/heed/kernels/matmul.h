#pragma once

#include "heed/kernels/kernel.h"
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
  /// [N] f32, added to every row of the product; absent if undefined.
  Tensor bias = {};
};

/// Whether products of bf16 factors are faster here than those of f32 factors.
bool multiplies_bf16_faster();

/// The right factor of many products, packed once in the layout that the micro-kernel reads. It
/// takes as much memory as the matrix in panels.dtype(), plus the padding of rows and columns.
struct PackedMatrix {
  Tensor panels;
  int64_t rows = 0;  // K
  int64_t cols = 0;  // N
  /// The micro-kernel whose layout it is; null: the reference's, or a GPU's.
  const cpu::MicroKernel* kernel = nullptr;
  bool defined() const { return panels.defined(); }
};

/// c = a b + bias (+ c), with a [M, K] and b [K, N] of one dtype (f32 or bf16) and c [M, N] of f32
/// or bf16, which must overlap neither factor. The caller checks sizes. Throws Error if the factors
/// are not of one floating dtype.
///
/// Every element is one f32 sum in the order of k. It starts from the bias, from what c holds or
/// from c + bias, and is rounded once if c is bf16. So it depends neither on M and N nor on the
/// number of threads.
///
/// Instructions for bf16 add the products in groups of 2 or 32 neighbouring k and treat subnormal
/// numbers as zero. Those of GPUs add groups of 16 (8 before compute capability 9.0), cut the sums
/// off instead of rounding them, and keep subnormal numbers. Machines with bf16 tiles (AMX) use
/// them for f32 as well (bf16x3): each factor is the exact sum of three bf16 parts. Six of the nine
/// products of parts are added; the other three are smaller than f32's rounding error (Henry, Tang
/// and Heinecke 2019). With bf16x3, an infinite factor, or one beyond 3.39e38, makes the sum NaN.
HEED_KERNEL(matmul,
            void(const Factor& a, const Factor& b, const MatmulOptions& options, Tensor& c));

/// Packs b [K, N]. On a GPU, b may also be in the memory of the host, and a transposed b that needs
/// no padding is not copied on the GPU: it must not change.
HEED_KERNEL(pack, PackedMatrix(const Factor& b));

/// c = a b + bias (+ c), bit for bit the product with the unpacked b. Throws Error if b was packed
/// by another backend or for another dtype than a's.
HEED_KERNEL(matmul_packed,
            void(const Tensor& a, const PackedMatrix& b, const MatmulOptions& options, Tensor& c));

}  // namespace heed::kernels
