#include "heed/kernels/cpu/attention/sink_gradient.h"

#include <cmath>

#include "heed/base/parallel.h"

namespace heed::kernels::cpu {

void add_sink_gradient(const AttentionForward& in, const Tensor& out, const Tensor& logsumexp,
                       const Tensor& d_out, Tensor& d_sinks) {
  const int64_t heads = in.options.n_heads, width = out.cols() / heads;
  visit_floating(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(heads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t h = begin; h < end; ++h) {
        const float sink = in.sinks.data<float>()[h];
        double sum = 0.0;
        for (int64_t n = 0; n < out.rows(); ++n) {
          const T* const value = out.data<T>() + (n * heads + h) * width;
          const T* const gradient = d_out.data<T>() + (n * heads + h) * width;
          float dot = 0.0f;
          for (int64_t c = 0; c < width; ++c)
            dot += static_cast<float>(value[c]) * static_cast<float>(gradient[c]);
          sum += static_cast<double>(std::exp(sink - logsumexp.data<float>()[n * heads + h]) * dot);
        }
        d_sinks.data<float>()[h] -= static_cast<float>(sum);
      }
    });
  });
}

}  // namespace heed::kernels::cpu
