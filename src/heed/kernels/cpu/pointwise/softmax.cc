#include "heed/kernels/softmax.h"

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/simd/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/pointwise/softmax.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/exp_sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

template <typename T>
void softmax_row(const T* x, T* y, int64_t cols) {
  const ExpSum row = exp_sum(x, cols);
  const V32 shift = set(row.shift), inverse = set(row.inverse());
  for_lanes(0, cols, [&](auto at) HEED_LANES {
    store(hn::Mul(exp_nonpositive(hn::Sub(load(x, at), shift)), inverse), y, at);
  });
}

template <typename T>
void softmax_backward_row(const T* y, const T* dy, T* dx, int64_t cols) {
  const V32 dot = set(sum_lanes(cols, [&](V32 sum, auto at) HEED_LANES {
    return hn::MulAdd(load(y, at), load(dy, at), sum);
  }));
  for_lanes(0, cols, [&](auto at) HEED_LANES {
    store(hn::Mul(load(y, at), hn::Sub(load(dy, at), dot)), dx, at);
  });
}

void log_softmax_row(const float* x, float* y, int64_t cols) {
  const ExpSum row = exp_sum(x, cols);
  const V32 shift = set(row.shift), log = set(static_cast<float>(row.log()));
  for_lanes(0, cols,
            [&](auto at) HEED_LANES { store(hn::Sub(hn::Sub(load(x, at), shift), log), y, at); });
}

}  // namespace

void softmax_forward(const Tensor& x, Tensor& y) {
  const int64_t cols = x.cols();
  visit_floating(x.dtype(), [&](auto zero) {
    const auto* from = x.data<decltype(zero)>();
    auto* to = y.data<decltype(zero)>();
    parallel_for(x.rows(), grain_rows(kHeavyGrain, cols), [=](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        softmax_row(from + row * cols, to + row * cols, cols);
    });
  });
}

void softmax_backward(const Tensor& y, const Tensor& dy, Tensor& dx) {
  const int64_t cols = y.cols();
  visit_floating(y.dtype(), [&](auto zero) {
    const auto* weights = y.data<decltype(zero)>();
    const auto* from = dy.data<decltype(zero)>();
    auto* to = dx.data<decltype(zero)>();
    parallel_for(y.rows(), grain_rows(kLightGrain, cols), [=](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        softmax_backward_row(weights + row * cols, from + row * cols, to + row * cols, cols);
    });
  });
}

void log_softmax(const Tensor& x, Tensor& y) {
  const int64_t cols = x.cols();
  const float* from = x.data<float>();
  float* to = y.data<float>();
  parallel_for(x.rows(), grain_rows(kHeavyGrain, cols), [=](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      log_softmax_row(from + row * cols, to + row * cols, cols);
  });
}

void log_sum_exp(const Tensor& x, Tensor& y) {
  const int64_t cols = x.cols();
  const float* from = x.data<float>();
  float* to = y.data<float>();
  parallel_for(x.rows(), grain_rows(kHeavyGrain, cols), [=](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const ExpSum row = exp_sum(from + n * cols, cols);
      const float log = static_cast<float>(row.log());
      to[2 * n] = std::isnan(log) ? log : row.shift;
      to[2 * n + 1] = log;
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(softmax_forward);
void cpu::softmax_forward(const Tensor& x, Tensor& y) {
  HWY_DYNAMIC_DISPATCH(softmax_forward)(x, y);
}
HWY_EXPORT(softmax_backward);
void cpu::softmax_backward(const Tensor& y, const Tensor& dy, Tensor& dx) {
  HWY_DYNAMIC_DISPATCH(softmax_backward)(y, dy, dx);
}
HWY_EXPORT(log_softmax);
void cpu::log_softmax(const Tensor& x, Tensor& y) { HWY_DYNAMIC_DISPATCH(log_softmax)(x, y); }
HWY_EXPORT(log_sum_exp);
void cpu::log_sum_exp(const Tensor& x, Tensor& y) { HWY_DYNAMIC_DISPATCH(log_sum_exp)(x, y); }

}  // namespace heed::kernels
#endif  // HWY_ONCE
