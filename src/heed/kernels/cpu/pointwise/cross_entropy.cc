#include "heed/kernels/cross_entropy.h"

#include <cmath>

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/simd/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/pointwise/cross_entropy.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/exp_sum-inl.h"
#include "heed/kernels/cpu/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

/// A thread's memory for a row: exponentials, those of each chunk of kExpChunk relative to the
/// largest logit up to its end, these largest logits, and the capped logits if there is a cap.
struct Scratch {
  float* exps = nullptr;
  float* largest = nullptr;
  Tensor capped = {};
};

/// The row x or, if options have a cap, its capped copy in `scratch`.
const float* cap_row(const float* x, int64_t cols, const CrossEntropyOptions& options,
                     Tensor& scratch) {
  if (options.soft_cap <= 0.0f) return x;
  if (!scratch.defined()) scratch = Tensor::empty({cols});
  float* capped = scratch.data<float>();
  for_lanes(0, cols, [&](auto at) HEED_LANES {
    const auto inside = hn::Mul(load(x, at), set(1.0f / options.soft_cap));
    store(hn::Mul(tanh(inside), set(options.soft_cap)), capped, at);
  });
  return capped;
}

/// The derivative of the cap, from its result.
HWY_INLINE V32 cap_derivative(V32 capped, float soft_cap) {
  const auto t = hn::Mul(capped, set(1.0f / soft_cap));
  return hn::NegMulAdd(t, t, set(1.0f));
}

struct RowSums {
  ExpSum exps;
  double logits = 0.0;
};

/// Stores the exponentials in `scratch` unless it is null; they may overwrite x.
RowSums sums_of_row(const float* x, int64_t cols, Scratch* scratch) {
  RowSums sums;
  for (int64_t begin = 0, k = 0; begin < cols; begin += kExpChunk, ++k) {
    const int64_t count = HWY_MIN(kExpChunk, cols - begin);
    const float* chunk = x + begin;
    sums.logits += sum_lanes(
        count, [&](V32 sum, auto at) HEED_LANES { return hn::Add(sum, load(chunk, at)); });
    if (scratch) {
      float* exps = scratch->exps + begin;
      sums.exps.add(chunk, count, [&](V32 e, auto at) HEED_LANES { store(e, exps, at); });
      scratch->largest[k] = sums.exps.largest;
    } else {
      sums.exps.add(chunk, count, [](V32, auto) HEED_LANES {});
    }
  }
  return sums;
}

/// losses[0] = the smoothed loss, losses[1] = -log p(target).
void put_losses(const RowSums& sums, float target_logit, int64_t cols, float smoothing,
                float* losses) {
  const double logsumexp = sums.exps.shift + sums.exps.log();
  const double loss = logsumexp - target_logit;
  // Without smoothing, logits of minus infinity must not make the loss infinite.
  const double uniform =
      smoothing > 0.0f ? logsumexp - sums.logits / static_cast<double>(cols) : 0.0;
  losses[0] = static_cast<float>((1.0 - smoothing) * loss + smoothing * uniform);
  losses[1] = static_cast<float>(loss);
}

template <typename T>
void put_gradient(const ExpSum& row, const Scratch& scratch, int64_t cols, int32_t target,
                  const CrossEntropyOptions& options, T* d) {
  const float uniform = options.label_smoothing / static_cast<float>(cols) * options.gradient_scale;
  const auto factor_of = [&](int64_t chunk) {
    return std::exp(scratch.largest[chunk] - row.shift) * row.inverse() * options.gradient_scale;
  };
  // Before the loop, since d may be the memory of the exponentials.
  const float at_target = scratch.exps[target] * factor_of(target / kExpChunk) - uniform -
                          (1.0f - options.label_smoothing) * options.gradient_scale;
  const V32 offset = set(uniform);
  const float* capped = options.soft_cap > 0.0f ? scratch.capped.data<float>() : nullptr;
  for (int64_t begin = 0, k = 0; begin < cols; begin += kExpChunk, ++k) {
    const V32 factor = set(factor_of(k));
    for_lanes(begin, HWY_MIN(begin + kExpChunk, cols), [&](auto at) HEED_LANES {
      auto gradient = hn::MulSub(load(scratch.exps, at), factor, offset);
      if (capped) gradient = hn::Mul(gradient, cap_derivative(load(capped, at), options.soft_cap));
      store(gradient, d, at);
    });
  }
  const float derivative =
      capped ? hn::GetLane(cap_derivative(set(capped[target]), options.soft_cap)) : 1.0f;
  d[target] = T(at_target * derivative);
}

void losses_only(const Tensor& logits, std::span<const int32_t> targets,
                 const CrossEntropyOptions& options, Tensor& losses) {
  const int64_t cols = logits.cols();
  const float* from = logits.data<float>();
  float* to = losses.data<float>();
  parallel_for(logits.rows(), grain_rows(kHeavyGrain, cols), [&](int64_t begin, int64_t end) {
    Tensor capped;
    for (int64_t n = begin; n < end; ++n) {
      const float* x = cap_row(from + n * cols, cols, options, capped);
      const float target_logit = x[targets[static_cast<size_t>(n)]];
      put_losses(sums_of_row(x, cols, nullptr), target_logit, cols, options.label_smoothing,
                 to + 2 * n);
    }
  });
}

template <typename T>
void losses_and_gradients(const Tensor& logits, std::span<const int32_t> targets,
                          const CrossEntropyOptions& options, Tensor& losses, T* d_logits) {
  const int64_t cols = logits.cols();
  const float* from = logits.data<float>();
  float* to = losses.data<float>();
  parallel_for(logits.rows(), grain_rows(kHeavyGrain, cols), [&](int64_t begin, int64_t end) {
    Tensor largest = Tensor::empty({cols / kExpChunk + 1}), exps;
    Scratch scratch{.largest = largest.data<float>()};
    if constexpr (sizeof(T) != sizeof(float)) {
      exps = Tensor::empty({cols});
      scratch.exps = exps.data<float>();
    }
    for (int64_t n = begin; n < end; ++n) {
      const float* x = cap_row(from + n * cols, cols, options, scratch.capped);
      const int32_t target = targets[static_cast<size_t>(n)];
      const float target_logit = x[target];
      T* d = d_logits + n * cols;
      if constexpr (sizeof(T) == sizeof(float)) scratch.exps = d;
      const RowSums sums = sums_of_row(x, cols, &scratch);
      put_losses(sums, target_logit, cols, options.label_smoothing, to + 2 * n);
      put_gradient(sums.exps, scratch, cols, target, options, d);
    }
  });
}

}  // namespace

void cross_entropy(const Tensor& logits, std::span<const int32_t> targets,
                   CrossEntropyOptions options, Tensor& losses, Tensor& d_logits) {
  if (!d_logits.defined()) return losses_only(logits, targets, options, losses);
  visit_floating(d_logits.dtype(), [&](auto zero) {
    losses_and_gradients(logits, targets, options, losses, d_logits.data<decltype(zero)>());
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(cross_entropy);
void cpu::cross_entropy(const Tensor& logits, std::span<const int32_t> targets,
                        CrossEntropyOptions options, Tensor& losses, Tensor& d_logits) {
  HWY_DYNAMIC_DISPATCH(cross_entropy)(logits, targets, options, losses, d_logits);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
