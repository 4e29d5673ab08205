#include "heed/kernels/relative_bias.h"

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/simd/grain.h"

namespace heed::kernels::cpu {

void relative_bias_forward(const Tensor& table, std::span<const int32_t> rows, Tensor& y) {
  const int64_t columns = y.cols(), n_heads = y.rows();
  const float* from = table.data<float>();
  float* to = y.data<float>();
  parallel_for(n_heads, grain_rows(kLightGrain, columns), [=](int64_t begin, int64_t end) {
    for (int64_t h = begin; h < end; ++h)
      for (int64_t c = 0; c < columns; ++c)
        to[h * columns + c] = from[rows[static_cast<size_t>(c)] * n_heads + h];
  });
}

void relative_bias_backward(const Tensor& dy, std::span<const int32_t> rows, Tensor& d_table) {
  const int64_t columns = dy.cols(), n_heads = dy.rows();
  const float* from = dy.data<float>();
  float* to = d_table.data<float>();
  // A thread has all columns of a head, so that their order is kept.
  parallel_for(n_heads, grain_rows(kLightGrain, columns), [=](int64_t begin, int64_t end) {
    for (int64_t h = begin; h < end; ++h)
      for (int64_t c = 0; c < columns; ++c)
        to[rows[static_cast<size_t>(c)] * n_heads + h] += from[h * columns + c];
  });
}

}  // namespace heed::kernels::cpu
