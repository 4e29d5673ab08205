#include "heed/kernels/norm.h"

#include <cmath>

#include "heed/base/parallel.h"
#include "heed/base/rounding.h"
#include "heed/kernels/cpu/simd/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/pointwise/norm.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

/// A row is normalised to (x - mean) * inverse. Both norms share this code: without `centred`
/// (RMSNorm) the mean is 0 and there is no bias.
struct RowStats {
  float mean, inverse;
};

template <bool centred, typename T>
RowStats stats_in_double(const T* x, int64_t cols, float epsilon) {
  double mean = 0.0, squares = 0.0;
  if (centred) {
    for (int64_t i = 0; i < cols; ++i) mean += static_cast<float>(x[i]);
    mean /= static_cast<double>(cols);
  }
  for (int64_t i = 0; i < cols; ++i) squares += std::pow(static_cast<float>(x[i]) - mean, 2.0);
  const double variance = squares / static_cast<double>(cols);
  return {static_cast<float>(mean), static_cast<float>(1.0 / std::sqrt(variance + epsilon))};
}

/// If squares leave f32's range, or there is a NaN, the statistics are computed in double.
template <bool centred, typename T>
RowStats finished(float mean, float variance, const T* x, int64_t cols, float epsilon) {
  if (!(variance <= std::numeric_limits<float>::max()))
    return stats_in_double<centred>(x, cols, epsilon);
  return {mean, 1.0f / std::sqrt(variance + epsilon)};
}

template <typename T>
float mean_square(const T* x, int64_t cols, float mean) {
  const V32 centre = set(mean);
  return sum_lanes(cols,
                   [&](V32 sum, auto at) HEED_LANES {
                     const auto deviation = hn::Sub(load(x, at), centre);
                     return hn::MulAdd(deviation, deviation, sum);
                   }) /
         static_cast<float>(cols);
}

struct Moments {
  V32 sum, squares;
};

/// One pass, relative to the row's first element. That is nearly always within a few deviations of
/// the mean; if it is not, the difference of the moments loses digits, and a second pass follows.
template <typename T>
RowStats centred_stats(const T* x, int64_t cols, float epsilon) {
  const float origin = static_cast<float>(x[0]), count = static_cast<float>(cols);
  const V32 centre = set(origin), zero = set(0.0f);
  const auto step = [&](Moments m, auto at) HEED_LANES {
    const auto deviation = where_present(at, hn::Sub(load(x, at), centre), zero);
    return Moments{hn::Add(m.sum, deviation), hn::MulAdd(deviation, deviation, m.squares)};
  };
  const auto join = [](Moments a, Moments b) HEED_LANES {
    return Moments{hn::Add(a.sum, b.sum), hn::Add(a.squares, b.squares)};
  };
  const Moments moments = fold_lanes(cols, Moments{zero, zero}, step, join);
  const float offset = sum_of(moments.sum) / count;
  const float mean = origin + offset;
  float variance = sum_of(moments.squares) / count - offset * offset;
  if (offset * offset > 16.0f * variance) variance = mean_square(x, cols, mean);
  return finished<true>(mean, variance, x, cols, epsilon);
}

template <bool centred, typename T>
void normalise_row(const T* x, RowStats stats, const float* weight, const float* bias, T* y,
                   int64_t cols) {
  const V32 mean = set(stats.mean), inverse = set(stats.inverse);
  for_lanes(0, cols, [&](auto at) HEED_LANES {
    const auto w = load(weight, at);
    if constexpr (centred) {
      const auto normalised = hn::Mul(hn::Sub(load(x, at), mean), inverse);
      store(hn::MulAdd(normalised, w, load(bias, at)), y, at);
    } else {
      store(hn::Mul(hn::Mul(load(x, at), inverse), w), y, at);
    }
  });
}

template <bool centred>
void norm_forward(const LayerNormForward& in, Tensor& y, Tensor& stats) {
  const int64_t cols = in.x.cols();
  const float* weight = in.weight.data<float>();
  const float* bias = centred ? in.bias.data<float>() : nullptr;
  float* row_stats = stats.data<float>();
  visit_floating(in.x.dtype(), [&](auto zero) {
    const auto* x = in.x.data<decltype(zero)>();
    auto* to = y.data<decltype(zero)>();
    parallel_for(in.x.rows(), grain_rows(kLightGrain, cols), [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const auto* from = x + n * cols;
        const RowStats row =
            centred ? centred_stats(from, cols, in.epsilon)
                    : finished<false>(0.0f, mean_square(from, cols, 0.0f), from, cols, in.epsilon);
        normalise_row<centred>(from, row, weight, bias, to + n * cols, cols);
        if (centred) row_stats[2 * n] = row.mean;
        row_stats[centred ? 2 * n + 1 : n] = row.inverse;
      }
    });
  });
}

/// The operands of a backward pass, but for what it adds to.
template <typename T>
struct Backward {
  const T *x, *dy;
  const float *weight, *stats;
  T* dx;
  int64_t cols;
};

/// Writes dx of `rows` rows from `first` on, and adds their part to d_weight and d_bias, which are
/// read and written once for all of the rows.
template <bool centred, int rows, typename T>
void backward_rows(const Backward<T>& in, int64_t first, float* d_weight, float* d_bias) {
  const T* x[rows];
  const T* dy[rows];
  V32 mean[rows], inverse[rows], sum_g[rows], sum_gx[rows];
  for (int r = 0; r < rows; ++r) {
    const int64_t n = first + r;
    x[r] = in.x + n * in.cols;
    dy[r] = in.dy + n * in.cols;
    mean[r] = centred ? set(in.stats[2 * n]) : set(0.0f);
    inverse[r] = set(in.stats[centred ? 2 * n + 1 : n]);
    sum_g[r] = sum_gx[r] = set(0.0f);
  }
  for_lanes(0, in.cols, [&](auto at) HEED_LANES {
    const auto weight = load(in.weight, at);
    auto dw = load(d_weight, at);
    auto db = centred ? load(d_bias, at) : weight;
    for (int r = 0; r < rows; ++r) {
      auto normalised = load(x[r], at);
      if (centred) normalised = hn::Sub(normalised, mean[r]);
      normalised = hn::Mul(normalised, inverse[r]);
      const auto d = load(dy[r], at);
      dw = hn::MulAdd(d, normalised, dw);
      const auto g = hn::Mul(d, weight);
      sum_gx[r] = hn::MulAdd(g, normalised, sum_gx[r]);
      if (!centred) continue;
      db = hn::Add(db, d);
      sum_g[r] = hn::Add(sum_g[r], g);
    }
    store(dw, d_weight, at);
    if (centred) store(db, d_bias, at);
  });
  const V32 inverse_cols = set(1.0f / static_cast<float>(in.cols));
  for (int r = 0; r < rows; ++r) {
    T* dx = in.dx + (first + r) * in.cols;
    const auto mean_g = hn::Mul(hn::SumOfLanes(F32(), sum_g[r]), inverse_cols);
    const auto mean_gx = hn::Mul(hn::SumOfLanes(F32(), sum_gx[r]), inverse_cols);
    const auto slope = hn::Mul(mean_gx, inverse[r]);
    for_lanes(0, in.cols, [&](auto at) HEED_LANES {
      const auto d = load(dy[r], at), weight = load(in.weight, at);
      auto deviation = load(x[r], at);
      if (centred) deviation = hn::Sub(deviation, mean[r]);
      const auto g = centred ? hn::MulSub(d, weight, mean_g) : hn::Mul(d, weight);
      store(hn::Mul(inverse[r], hn::NegMulAdd(deviation, slope, g)), dx, at);
    });
  }
}

/// to[c] += the sum of part[b * stride + c] over b, in the order of b, for c in [begin, end).
void add_parts(const float* part, int64_t parts, int64_t stride, float* to, int64_t begin,
               int64_t end) {
  for_lanes(begin, end, [&](auto at) HEED_LANES {
    auto sum = load(to, at);
    for (int64_t b = 0; b < parts; ++b) sum = hn::Add(sum, load(part + b * stride, at));
    store(sum, to, at);
  });
}

/// Rows are divided into blocks by their number alone. Each block sums the gradient of the weight
/// into its own row of scratch, and these are added in order, so no bit depends on the threads.
template <bool centred, typename T>
void backward_blocks(const Backward<T>& in, int64_t rows, float* d_weight, float* d_bias) {
  constexpr int64_t kRows = 4, kMaxBlocks = 64, kMinRows = 16;
  const int64_t cols = in.cols, stride = centred ? 2 * cols : cols;
  const int64_t min_block = std::max(kMinRows, ceil_div(rows, kMaxBlocks));
  const int64_t block = round_up(min_block, kRows);
  const int64_t blocks = ceil_div(rows, block);
  Tensor scratch = Tensor::empty({blocks, stride});
  float* parts = scratch.data<float>();
  parallel_for(blocks, grain_rows(kLightGrain, block * cols), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      float* part = parts + b * stride;
      std::fill(part, part + stride, 0.0f);
      const int64_t last = std::min(rows, (b + 1) * block);
      int64_t n = b * block;
      for (; n + kRows <= last; n += kRows) backward_rows<centred, kRows>(in, n, part, part + cols);
      for (; n < last; ++n) backward_rows<centred, 1>(in, n, part, part + cols);
    }
  });
  parallel_for(cols, grain_rows(kLightGrain, blocks), [&](int64_t begin, int64_t end) {
    add_parts(parts, blocks, stride, d_weight, begin, end);
    if (centred) add_parts(parts + cols, blocks, stride, d_bias, begin, end);
  });
}

template <bool centred, typename Forward>
void norm_backward(const Forward& in, const Tensor& stats, const Tensor& dy, Tensor& dx,
                   Tensor& d_weight, float* d_bias) {
  visit_floating(in.x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Backward<T> backward{
        in.x.template data<T>(), dy.data<T>(), in.weight.template data<float>(),
        stats.data<float>(),     dx.data<T>(), in.x.cols()};
    backward_blocks<centred>(backward, in.x.rows(), d_weight.data<float>(), d_bias);
  });
}

}  // namespace

void layer_norm_forward(const LayerNormForward& in, Tensor& y, Tensor& stats) {
  norm_forward<true>(in, y, stats);
}

void rms_norm_forward(const RmsNormForward& in, Tensor& y, Tensor& stats) {
  norm_forward<false>({in.x, in.weight, in.weight, in.epsilon}, y, stats);
}

void layer_norm_backward(const LayerNormForward& in, const Tensor& stats, const Tensor& dy,
                         LayerNormGradients gradients) {
  norm_backward<true>(in, stats, dy, gradients.dx, gradients.d_weight,
                      gradients.d_bias.data<float>());
}

void rms_norm_backward(const RmsNormForward& in, const Tensor& stats, const Tensor& dy,
                       RmsNormGradients gradients) {
  norm_backward<false>(in, stats, dy, gradients.dx, gradients.d_weight, nullptr);
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(layer_norm_forward);
void cpu::layer_norm_forward(const LayerNormForward& in, Tensor& y, Tensor& stats) {
  HWY_DYNAMIC_DISPATCH(layer_norm_forward)(in, y, stats);
}
HWY_EXPORT(layer_norm_backward);
void cpu::layer_norm_backward(const LayerNormForward& in, const Tensor& stats, const Tensor& dy,
                              LayerNormGradients gradients) {
  HWY_DYNAMIC_DISPATCH(layer_norm_backward)(in, stats, dy, gradients);
}
HWY_EXPORT(rms_norm_forward);
void cpu::rms_norm_forward(const RmsNormForward& in, Tensor& y, Tensor& stats) {
  HWY_DYNAMIC_DISPATCH(rms_norm_forward)(in, y, stats);
}
HWY_EXPORT(rms_norm_backward);
void cpu::rms_norm_backward(const RmsNormForward& in, const Tensor& stats, const Tensor& dy,
                            RmsNormGradients gradients) {
  HWY_DYNAMIC_DISPATCH(rms_norm_backward)(in, stats, dy, gradients);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
