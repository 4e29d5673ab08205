#include "heed/kernels/gpu/code/reductions/norm.h"

#include "heed/kernels/gpu/code/double_sum.h"
#include "heed/kernels/gpu/code/reductions/row_parts.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

constexpr float kLargestFloat = 3.40282347e38f;

/// A row is normalised to (x - mean) * inverse; without a bias (RMSNorm) the mean is 0.
struct NormStats {
  float mean, inverse;
};

HEED_DEVICE double sum_row(const RowThreads& at, double value) {
  return at.whole_block ? sum_block(value, shared_memory<double>()) : sum_warp(value);
}

/// For a row whose squares leave the range of f32.
template <bool centred, typename T>
HEED_DEVICE NormStats norm_stats_in_double(const T* x, int columns, float epsilon,
                                           const RowThreads& at) {
  const int thread = static_cast<int>(at.thread), threads = static_cast<int>(at.threads);
  double mean = 0.0, squares = 0.0;
  if constexpr (centred) {
    for (int i = thread; i < columns; i += threads) mean += wide(x[i]);
    mean = sum_row(at, mean) / columns;
  }
  for (int i = thread; i < columns; i += threads) {
    const double deviation = wide(x[i]) - mean;
    squares += deviation * deviation;
  }
  const double variance = sum_row(at, squares) / columns;
  return {static_cast<float>(mean), static_cast<float>(1.0 / sqrt(variance + epsilon))};
}

template <bool centred, int held, typename T>
HEED_DEVICE NormStats norm_stats(const T* x, const RowPart<T, held>& part, int columns,
                                 float epsilon, const RowThreads& at) {
  constexpr int n = kVector<T>;
  float mean = 0.0f;
  const auto sum_of = [&](float origin, const auto& term) {
    float sum = 0.0f;
    over_row<held, n>(at, columns, [&](int slot, int column) {
      float values[n];
      part.get(slot, column, values);
      HEED_UNROLL
      for (int i = 0; i < n; ++i)
        if (column + i < columns) sum = term(sum, values[i] - origin);
    });
    return at.reduce<Sum>(sum);
  };
  // Relative to an element of the row, so that few digits are lost where the mean is large.
  if constexpr (centred) {
    const float origin = wide(x[0]);
    mean = origin + sum_of(origin, [](float sum, float value) { return sum + value; }) /
                        static_cast<float>(columns);
  }
  const float variance =
      sum_of(mean, [](float sum, float value) { return fmaf(value, value, sum); }) /
      static_cast<float>(columns);
  if (!(variance <= kLargestFloat)) return norm_stats_in_double<centred>(x, columns, epsilon, at);
  return {mean, 1.0f / sqrtf(variance + epsilon)};
}

template <bool centred, int held, typename T>
HEED_DEVICE void norm_row(const NormArguments& in, const RowThreads& at) {
  constexpr int n = kVector<T>;
  const int columns = in.columns;
  const T* const x = static_cast<const T*>(in.x) + at.row * columns;
  T* const y = static_cast<T*>(in.y) + at.row * columns;
  const RowPart<T, held> part(x, columns, at, 0.0f);
  // Weights are read before the sums are waited for, where there are registers for it.
  const RowPart<float, held == 1 ? 1 : 0, n> weight(in.weight, columns, at, 0.0f);
  const NormStats stats = norm_stats<centred>(x, part, columns, in.epsilon, at);
  if (at.thread == 0) {
    if constexpr (centred) in.stats[2 * at.row] = stats.mean;
    in.stats[centred ? 2 * at.row + 1 : at.row] = stats.inverse;
  }
  over_row<held, n>(at, columns, [&](int slot, int column) {
    float values[n], weights[n], biases[n];
    part.get(slot, column, values);
    weight.get(slot, column, weights);
    if constexpr (centred) {
      load_vector(in.bias + column, columns - column, 0.0f, biases);
      HEED_UNROLL
      for (int i = 0; i < n; ++i)
        values[i] = fmaf((values[i] - stats.mean) * stats.inverse, weights[i], biases[i]);
    } else {
      HEED_UNROLL
      for (int i = 0; i < n; ++i) values[i] = values[i] * stats.inverse * weights[i];
    }
    store_vector(values, columns - column, y + column);
  });
}

template <typename T, bool centred>
HEED_DEVICE void norm_rows(const NormArguments& in) {
  const RowThreads at(in.shape);
  if (at.row >= in.rows) return;
  with_held(in.shape, [&](auto held) { norm_row<centred, held.kVectors, T>(in, at); });
}

}  // namespace

HEED_GPU_KERNEL(layer_norm_f32, NormArguments, in) { norm_rows<float, true>(in); }
HEED_GPU_KERNEL(layer_norm_bf16, NormArguments, in) { norm_rows<Bf16, true>(in); }
HEED_GPU_KERNEL(rms_norm_f32, NormArguments, in) { norm_rows<float, false>(in); }
HEED_GPU_KERNEL(rms_norm_bf16, NormArguments, in) { norm_rows<Bf16, false>(in); }

}  // namespace heed::kernels::gpu
