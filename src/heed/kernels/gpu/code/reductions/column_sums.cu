#include "heed/kernels/gpu/code/reductions/column_sums.h"

#include "heed/kernels/gpu/code/vectors.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

/// A lane has the columns of a vector, a warp every 8th row of the piece.
template <typename T>
HEED_DEVICE void sum_piece(const ColumnSumsArguments& in) {
  constexpr int n = kVector<T>, width = 32 * n;
  float* const shared = shared_memory<float>();
  const int lane = static_cast<int>(thread_index() % 32);
  const int warp = static_cast<int>(thread_index() / 32);
  const int begin = static_cast<int>(block_y()) * width, column = begin + lane * n;
  const int64_t piece = block_x();
  const int64_t first = piece * kColumnSumRows;
  const int64_t last = first + kColumnSumRows < in.rows ? first + kColumnSumRows : in.rows;
  float sums[n] = {};
  if (column < in.columns) {
    const T* const x = static_cast<const T*>(in.x) + column;
    for (int64_t row = first + warp; row < last; row += kColumnSumWarps) {
      float values[n];
      load_vector(x + row * in.columns, in.columns - column, 0.0f, values);
      HEED_UNROLL
      for (int i = 0; i < n; ++i) sums[i] += values[i];
    }
  }
  HEED_UNROLL
  for (int i = 0; i < n; ++i) shared[warp * width + lane * n + i] = sums[i];
  synchronize();
  const int own = static_cast<int>(thread_index());
  if (own >= width || begin + own >= in.columns) return;
  float sum = shared[own];
  for (int w = 1; w < kColumnSumWarps; ++w) sum += shared[w * width + own];
  if (in.parts)
    in.parts[piece * in.columns + begin + own] = sum;
  else
    in.sums[begin + own] += sum;
}

}  // namespace

HEED_GPU_KERNEL(column_sums_f32, ColumnSumsArguments, in) { sum_piece<float>(in); }
HEED_GPU_KERNEL(column_sums_bf16, ColumnSumsArguments, in) { sum_piece<Bf16>(in); }

/// A thread a column.
HEED_GPU_KERNEL(column_sums_finish, ColumnSumsArguments, in) {
  const int column = static_cast<int>(block_x() * block_threads() + thread_index());
  if (column >= in.columns) return;
  float sum = 0.0f;
  for (int piece = 0; piece < in.pieces; ++piece)
    sum += in.parts[int64_t{piece} * in.columns + column];
  in.sums[column] += sum;
}

}  // namespace heed::kernels::gpu
