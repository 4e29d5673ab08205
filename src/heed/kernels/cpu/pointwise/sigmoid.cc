#include "heed/kernels/sigmoid.h"

#include <cmath>

#include "heed/base/parallel.h"

namespace heed::kernels::cpu {
namespace {
constexpr int64_t kSigmoidGrain = 4096;
}

// Not in vectors: routers have few probabilities, and their bits stay those of the C library's exp.

void sigmoid(const Tensor& x, Tensor& y) {
  const float* from = x.data<float>();
  float* to = y.data<float>();
  parallel_for(x.elements(), kSigmoidGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = 1.0f / (1.0f + std::exp(-from[i]));
  });
}

void sigmoid_backward(const Tensor& y, const Tensor& dy, Tensor& dx) {
  const float *p = y.data<float>(), *gradient = dy.data<float>();
  float* to = dx.data<float>();
  parallel_for(y.elements(), kSigmoidGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = gradient[i] * p[i] * (1.0f - p[i]);
  });
}

}  // namespace heed::kernels::cpu
