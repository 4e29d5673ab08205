#include "heed/kernels/experts.h"

#include <vector>

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/simd/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/pointwise/experts.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

/// y = the sum of weights[k] rows[k].
template <typename T>
void weighted_sum(const std::vector<const T*>& rows, const float* weights, int64_t cols, T* y) {
  for_lanes(0, cols, [&](auto at) HEED_LANES {
    auto sum = set(0.0f);
    for (size_t k = 0; k < rows.size(); ++k)
      sum = hn::MulAdd(set(weights[k]), load(rows[k], at), sum);
    store(sum, y, at);
  });
}

/// d_row = weight dy; returns dy . row.
template <typename T>
float differentiate(const T* dy, const T* row, float weight, int64_t cols, T* d_row) {
  for_lanes(0, cols,
            [&](auto at) HEED_LANES { store(hn::Mul(load(dy, at), set(weight)), d_row, at); });
  return sum_lanes(cols, [&](V32 sum, auto at)
                             HEED_LANES { return hn::MulAdd(load(dy, at), load(row, at), sum); });
}

}  // namespace

void combine_experts_forward(const ExpertOutputs& in, Tensor& y) {
  const int64_t top_k = in.weights.cols(), cols = y.cols();
  visit_floating(y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* to = y.data<T>();
    parallel_for(y.rows(), grain_rows(kLightGrain, top_k * cols), [&](int64_t begin, int64_t end) {
      std::vector<const T*> rows(static_cast<size_t>(top_k));
      for (int64_t n = begin; n < end; ++n) {
        for (size_t k = 0; k < rows.size(); ++k) {
          const size_t i = static_cast<size_t>(n * top_k) + k;
          const Tensor& output = in.outputs[static_cast<size_t>(in.experts[i])];
          rows[k] = output.data<T>() + in.rows[i] * cols;
        }
        weighted_sum(rows, in.weights.data<float>() + n * top_k, cols, to + n * cols);
      }
    });
  });
}

void combine_experts_backward(const ExpertOutputs& in, const Tensor& dy,
                              ExpertGradients gradients) {
  const int64_t top_k = in.weights.cols(), cols = dy.cols();
  visit_floating(dy.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = dy.data<T>();
    const float* weights = in.weights.data<float>();
    float* d_weights = gradients.d_weights.data<float>();
    const auto differentiate_one = [&](size_t i, int64_t n) {
      const auto expert = static_cast<size_t>(in.experts[i]);
      const int64_t row = in.rows[i] * cols;
      d_weights[i] = differentiate(from + n * cols, in.outputs[expert].data<T>() + row, weights[i],
                                   cols, gradients.d_outputs[expert].data<T>() + row);
    };
    parallel_for(dy.rows() * top_k, grain_rows(kLightGrain, cols), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) differentiate_one(static_cast<size_t>(i), i / top_k);
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(combine_experts_forward);
void cpu::combine_experts_forward(const ExpertOutputs& in, Tensor& y) {
  HWY_DYNAMIC_DISPATCH(combine_experts_forward)(in, y);
}
HWY_EXPORT(combine_experts_backward);
void cpu::combine_experts_backward(const ExpertOutputs& in, const Tensor& dy,
                                   ExpertGradients gradients) {
  HWY_DYNAMIC_DISPATCH(combine_experts_backward)(in, dy, gradients);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
