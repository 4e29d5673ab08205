#include "heed/kernels/cross_entropy.h"

#include <cmath>

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/pieces.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/cross_entropy.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/exp_sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

double mean(const float* x, int64_t n) {
  constexpr int64_t kPiece = 4096;
  double total = 0.0;
  for (int64_t begin = 0; begin < n; begin += kPiece) {
    const float* piece = x + begin;
    total += sum_lanes(HWY_MIN(kPiece, n - begin),
                       [&](V32 sum, auto at) HEED_LANES { return hn::Add(sum, load(piece, at)); });
  }
  return total / static_cast<double>(n);
}

/// One row: writes losses[0, 2) and returns the row's sum of exponentials.
ExpSum losses_row(const float* x, int64_t cols, int32_t target, float smoothing, float* losses) {
  const ExpSum row = exp_sum(x, cols);
  const double log_sum = row.shift + row.log();
  const double loss = log_sum - x[target];
  // The smoothed part is not reached with s = 0: a class that is shut out (minus infinity) is no
  // error then.
  const double uniform = smoothing > 0.0f ? log_sum - mean(x, cols) : 0.0;
  losses[0] = static_cast<float>((1.0 - smoothing) * loss + smoothing * uniform);
  losses[1] = static_cast<float>(loss);
  return row;
}

template <typename T>
void gradient_row(const float* x, int64_t cols, int32_t target, const ExpSum& row,
                  const CrossEntropyOptions& options, T* d) {
  const float factor = row.inverse() * options.gradient_scale;
  const float uniform = options.label_smoothing / static_cast<float>(cols) * options.gradient_scale;
  const float at_target = std::exp(x[target] - row.shift) * factor - uniform -
                          (1.0f - options.label_smoothing) * options.gradient_scale;
  const V32 shift = set(row.shift), scale = set(factor), offset = set(uniform);
  for_lanes(0, cols, [&](auto at) HEED_LANES {
    store(hn::MulSub(exp_nonpositive(hn::Sub(load(x, at), shift)), scale, offset), d, at);
  });
  d[target] = T(at_target);
}

}  // namespace

void cross_entropy(const Tensor& logits, std::span<const int32_t> targets,
                   CrossEntropyOptions options, Tensor& losses, Tensor& d_logits) {
  const int64_t cols = logits.cols();
  const float* from = logits.data<float>();
  float* to = losses.data<float>();
  const auto over_rows = [&](const auto& gradient) {
    parallel_for(logits.rows(), piece_rows(kHeavyPiece, cols), [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const int32_t target = targets[static_cast<size_t>(n)];
        gradient(n, target,
                 losses_row(from + n * cols, cols, target, options.label_smoothing, to + 2 * n));
      }
    });
  };
  if (!d_logits.defined()) return over_rows([](int64_t, int32_t, const ExpSum&) {});
  visit_floating(d_logits.dtype(), [&](auto zero) {
    auto* d = d_logits.data<decltype(zero)>();
    over_rows([&](int64_t n, int32_t target, const ExpSum& row) {
      gradient_row(from + n * cols, cols, target, row, options, d + n * cols);
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_CPU_KERNEL(void, cross_entropy,
                (const Tensor& logits, std::span<const int32_t> targets,
                 CrossEntropyOptions options, Tensor& losses, Tensor& d_logits),
                (logits, targets, options, losses, d_logits))

}  // namespace heed::kernels
#endif  // HWY_ONCE
