#include "heed/kernels/gpu/code/rows/embedding.h"

#include "heed/kernels/gpu/code/vectors.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

template <typename T>
HEED_DEVICE void embed(const EmbeddingArguments& in) {
  constexpr int n = kVector<T>;
  const int64_t row = block_x();
  const int column = static_cast<int>(block_y() * block_threads() + thread_index()) * n;
  if (column >= in.columns) return;
  const int exist = in.columns - column;
  float values[n];
  load_vector(static_cast<const T*>(in.table) + int64_t{in.tokens[row]} * in.columns + column,
              exist, 0.0f, values);
  if (in.position_table) {
    float positions[n];
    load_vector(in.position_table + int64_t{in.positions[row]} * in.columns + column, exist, 0.0f,
                positions);
    HEED_UNROLL
    for (int i = 0; i < n; ++i) values[i] = fmaf(values[i], in.scale, positions[i]);
  } else {
    HEED_UNROLL
    for (int i = 0; i < n; ++i) values[i] *= in.scale;
  }
  store_vector(values, exist, static_cast<T*>(in.y) + row * in.columns + column);
}

}  // namespace

HEED_GPU_KERNEL(embedding_f32, EmbeddingArguments, in) { embed<float>(in); }
HEED_GPU_KERNEL(embedding_bf16, EmbeddingArguments, in) { embed<Bf16>(in); }

}  // namespace heed::kernels::gpu
