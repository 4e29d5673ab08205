#include "heed/kernels/gpu/code/products/matmul_stored.h"

#include "heed/kernels/gpu/code/block_sum.h"
#include "heed/kernels/gpu/code/blocks/blocks.h"
#include "heed/kernels/gpu/code/vectors.h"

// Products with weights of any stored dtype, read in place. Lane l of a warp sums the k with k / 4
// = l modulo 32, in their order; then the lanes are added.

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

/// Elements of a row of the weight from a multiple of 4 on; zeros after its end.
template <typename T>
HEED_DEVICE void load_four(const T* row, int k, int depth, float (&to)[4]) {
  if constexpr (kIsBlock<T>)
    widen_four(row, k, to);
  else
    load_vector<4>(row + k, depth - k, 0.0f, to);
}

template <typename T, int kRows>
HEED_DEVICE void multiply_stored(const MatmulStoredArguments& in) {
  constexpr int kColumns = kStoredColumns;
  const int lane = static_cast<int>(thread_index() % 32);
  const int column =
      static_cast<int>(block_x() * (block_threads() / 32) + thread_index() / 32) * kColumns;
  const int row = static_cast<int>(block_y()) * kRows;
  if (column >= in.columns) return;
  // Rows and columns beyond the last repeat it; their sums are not written.
  const T* weights[kColumns];
  HEED_UNROLL
  for (int n = 0; n < kColumns; ++n) {
    const int64_t at = column + n < in.columns ? column + n : in.columns - 1;
    weights[n] = reinterpret_cast<const T*>(static_cast<const unsigned char*>(in.weight) +
                                            at * in.weight_row_bytes);
  }
  const float* inputs[kRows];
  HEED_UNROLL
  for (int r = 0; r < kRows; ++r) {
    const int64_t at = row + r < in.rows ? row + r : in.rows - 1;
    inputs[r] = in.a + at * in.depth;
  }

  float sums[kRows][kColumns] = {};
  for (int k = 4 * lane; k < in.depth; k += 4 * 32) {
    float w[kColumns][4];
    HEED_UNROLL
    for (int n = 0; n < kColumns; ++n) load_four(weights[n], k, in.depth, w[n]);
    HEED_UNROLL
    for (int r = 0; r < kRows; ++r) {
      float x[4];
      load_vector<4>(inputs[r] + k, in.depth - k, 0.0f, x);
      HEED_UNROLL
      for (int n = 0; n < kColumns; ++n)
        HEED_UNROLL
        for (int i = 0; i < 4; ++i) sums[r][n] = fmaf(x[i], w[n][i], sums[r][n]);
    }
  }
  float own = 0.0f;  // lane kColumns r + n has that of row r and column n
  HEED_UNROLL
  for (int r = 0; r < kRows; ++r)
    HEED_UNROLL
    for (int n = 0; n < kColumns; ++n) {
      const float sum = reduce_warp<Sum>(sums[r][n]);
      if (lane == r * kColumns + n) own = sum;
    }
  const int r = row + lane / kColumns, n = column + lane % kColumns;
  if (lane >= kRows * kColumns || r >= in.rows || n >= in.columns) return;
  if (in.bias) own += in.bias[n];
  const int64_t at = r * in.c_stride + n;
  if (in.c_is_bf16)
    static_cast<Bf16*>(in.c)[at] = narrow<Bf16>(own);
  else
    static_cast<float*>(in.c)[at] = own;
}

}  // namespace

#define HEED_MATMUL_STORED(name, T)                                           \
  HEED_GPU_KERNEL(matmul_stored_one_##name, MatmulStoredArguments, in) {      \
    multiply_stored<T, 1>(in);                                                \
  }                                                                           \
  HEED_GPU_KERNEL(matmul_stored_##name, MatmulStoredArguments, in) {          \
    multiply_stored<T, kStoredRows>(in);                                      \
  }
HEED_FOR_STORED_TYPES(HEED_MATMUL_STORED)

}  // namespace heed::kernels::gpu
