#include "heed/kernels/gpu/code/reductions/norm_backward.h"

#include "heed/kernels/gpu/code/block_sum.h"
#include "heed/kernels/gpu/code/numbers.h"
#include "heed/kernels/gpu/code/vectors.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

/// With h = (x - mean) inverse and g = dy weight: dx = inverse (g - mean(g) - h mean(g h)); rows
/// that are not centred have no means of x and g.
template <typename T>
HEED_DEVICE void differentiate_norm(const NormBackwardArguments& in) {
  const int64_t n =
      static_cast<int64_t>(block_x()) * (block_threads() / 32) + thread_index() / 32;
  if (n >= in.rows) return;
  const int lane = static_cast<int>(thread_index() % 32);
  const T* const x = static_cast<const T*>(in.x) + n * in.columns;
  const T* const dy = static_cast<const T*>(in.dy) + n * in.columns;
  T* const dx = static_cast<T*>(in.dx) + n * in.columns;
  const float mean = in.centred ? in.stats[2 * n] : 0.0f;
  const float inverse = in.stats[in.centred ? 2 * n + 1 : n];

  float sum_g = 0.0f, sum_gh = 0.0f;
  for (int i = lane; i < in.columns; i += 32) {
    const float g = wide(dy[i]) * in.weight[i];
    sum_g += g;
    sum_gh = fmaf(g, (wide(x[i]) - mean) * inverse, sum_gh);
  }
  const float columns = static_cast<float>(in.columns);
  const float mean_g = in.centred ? reduce_warp<Sum>(sum_g) / columns : 0.0f;
  const float mean_gh = reduce_warp<Sum>(sum_gh) / columns;
  for (int i = lane; i < in.columns; i += 32) {
    const float h = (wide(x[i]) - mean) * inverse;
    const float g = fmaf(wide(dy[i]), in.weight[i], -mean_g);
    dx[i] = narrow<T>(inverse * fmaf(-h, mean_gh, g));
  }
}

HEED_DEVICE int column_of_thread() {
  return static_cast<int>(block_x() * block_threads() + thread_index());
}

template <typename T>
HEED_DEVICE void sum_columns_of_part(const NormPartsArguments& in) {
  // Rows that are loaded before they are added, so that enough loads are under way.
  constexpr int kAtOnce = 8;
  const int column = column_of_thread();
  if (column >= in.columns) return;
  const bool centred = in.bias_parts != nullptr;
  const int64_t begin = static_cast<int64_t>(block_y()) * in.rows_of_part;
  const int64_t end = begin + in.rows_of_part < in.rows ? begin + in.rows_of_part : in.rows;
  const T* const x = static_cast<const T*>(in.x) + column;
  const T* const dy = static_cast<const T*>(in.dy) + column;
  float weight_sum = 0.0f, bias_sum = 0.0f;
  const auto add = [&](int64_t n, float value, float d) {
    const float mean = centred ? in.stats[2 * n] : 0.0f;
    const float inverse = in.stats[centred ? 2 * n + 1 : n];
    weight_sum = fmaf(d, (value - mean) * inverse, weight_sum);
    bias_sum += d;
  };
  int64_t n = begin;
  for (; n + kAtOnce <= end; n += kAtOnce) {
    float values[kAtOnce], ds[kAtOnce];
    HEED_UNROLL
    for (int i = 0; i < kAtOnce; ++i) {
      values[i] = wide(x[(n + i) * in.columns]);
      ds[i] = wide(dy[(n + i) * in.columns]);
    }
    HEED_UNROLL
    for (int i = 0; i < kAtOnce; ++i) add(n + i, values[i], ds[i]);
  }
  for (; n < end; ++n) add(n, wide(x[n * in.columns]), wide(dy[n * in.columns]));
  const int64_t to = static_cast<int64_t>(block_y()) * in.columns + column;
  in.weight_parts[to] = weight_sum;
  if (centred) in.bias_parts[to] = bias_sum;
}

HEED_DEVICE void add_parts(const float* parts, int count, int columns, int column, float* sums) {
  float sum = sums[column];
  for (int part = 0; part < count; ++part)
    sum += parts[static_cast<int64_t>(part) * columns + column];
  sums[column] = sum;
}

}  // namespace

HEED_GPU_KERNEL(norm_backward_f32, NormBackwardArguments, in) { differentiate_norm<float>(in); }
HEED_GPU_KERNEL(norm_backward_bf16, NormBackwardArguments, in) { differentiate_norm<Bf16>(in); }

HEED_GPU_KERNEL(norm_backward_parts_f32, NormPartsArguments, in) {
  sum_columns_of_part<float>(in);
}
HEED_GPU_KERNEL(norm_backward_parts_bf16, NormPartsArguments, in) {
  sum_columns_of_part<Bf16>(in);
}
HEED_GPU_KERNEL(norm_backward_add_parts, AddNormPartsArguments, in) {
  const int column = column_of_thread();
  if (column >= in.columns) return;
  add_parts(in.weight_parts, in.parts, in.columns, column, in.d_weight);
  if (in.d_bias) add_parts(in.bias_parts, in.parts, in.columns, column, in.d_bias);
}

}  // namespace heed::kernels::gpu
