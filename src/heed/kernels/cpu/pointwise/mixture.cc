#include "heed/kernels/mixture.h"

#include <vector>

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/simd/pieces.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/pointwise/mixture.cc"
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

void combine_forward(const MixtureParts& in, Tensor& y) {
  const int64_t chosen = in.weights.cols(), cols = y.cols();
  visit_floating(y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* to = y.data<T>();
    parallel_for(y.rows(), piece_rows(kLightPiece, chosen * cols), [&](int64_t begin, int64_t end) {
      std::vector<const T*> rows(static_cast<size_t>(chosen));
      for (int64_t n = begin; n < end; ++n) {
        for (size_t k = 0; k < rows.size(); ++k) {
          const size_t choice = static_cast<size_t>(n * chosen) + k;
          const Tensor& part = in.parts[static_cast<size_t>(in.experts[choice])];
          rows[k] = part.data<T>() + in.places[choice] * cols;
        }
        weighted_sum(rows, in.weights.data<float>() + n * chosen, cols, to + n * cols);
      }
    });
  });
}

void combine_backward(const MixtureParts& in, const Tensor& dy, MixtureGradients gradients) {
  const int64_t chosen = in.weights.cols(), cols = dy.cols();
  visit_floating(dy.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = dy.data<T>();
    const float* weights = in.weights.data<float>();
    float* d_weights = gradients.d_weights.data<float>();
    parallel_for(dy.rows() * chosen, piece_rows(kLightPiece, cols),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     const size_t choice = static_cast<size_t>(i);
                     const size_t expert = static_cast<size_t>(in.experts[choice]);
                     const int64_t row = in.places[choice] * cols;
                     d_weights[i] =
                         differentiate(from + i / chosen * cols, in.parts[expert].data<T>() + row,
                                       weights[i], cols, gradients.d_parts[expert].data<T>() + row);
                   }
                 });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_CPU_KERNEL(void, combine_forward, (const MixtureParts& in, Tensor& y), (in, y))
HEED_CPU_KERNEL(void, combine_backward,
                (const MixtureParts& in, const Tensor& dy, MixtureGradients gradients),
                (in, dy, gradients))

}  // namespace heed::kernels
#endif  // HWY_ONCE
