#include "heed/kernels/gpu/code/rows/embedding_backward.h"

#include "heed/kernels/gpu/code/numbers.h"
#include "heed/kernels/gpu/code/vectors.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

/// Rows that a thread loads before it adds them, so that enough loads are under way.
constexpr int kRowsAtOnce = 8;

template <typename T>
HEED_DEVICE void add_rows_of_token(const EmbeddingBackwardArguments& in) {
  const int column = static_cast<int>(block_y() * block_threads() + thread_index());
  if (column >= in.columns) return;
  const T* const dy = static_cast<const T*>(in.dy) + column;
  const unsigned token = block_x();
  float* const to = in.d_table + static_cast<int64_t>(in.tokens[token]) * in.columns + column;
  const int end = in.starts[token + 1];
  float sum = *to;
  int i = in.starts[token];
  for (; i + kRowsAtOnce <= end; i += kRowsAtOnce) {
    float values[kRowsAtOnce];
    HEED_UNROLL
    for (int k = 0; k < kRowsAtOnce; ++k)
      values[k] = wide(dy[static_cast<int64_t>(in.rows[i + k]) * in.columns]);
    HEED_UNROLL
    for (int k = 0; k < kRowsAtOnce; ++k) sum = fmaf(values[k], in.scale, sum);
  }
  for (; i < end; ++i)
    sum = fmaf(wide(dy[static_cast<int64_t>(in.rows[i]) * in.columns]), in.scale, sum);
  *to = sum;
}

}  // namespace

HEED_GPU_KERNEL(embedding_backward_f32, EmbeddingBackwardArguments, in) {
  add_rows_of_token<float>(in);
}
HEED_GPU_KERNEL(embedding_backward_bf16, EmbeddingBackwardArguments, in) {
  add_rows_of_token<Bf16>(in);
}

}  // namespace heed::kernels::gpu
