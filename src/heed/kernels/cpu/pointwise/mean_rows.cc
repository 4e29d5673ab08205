#include "heed/kernels/mean_rows.h"

#include "heed/base/parallel.h"

namespace heed::kernels::cpu {
namespace {

/// Calls visit(b, n, share) for every row n of every mean b; threads share the means.
template <typename Visit>
void visit_rows_of_means(std::span<const int32_t> offsets, const Visit& visit) {
  parallel_for(std::ssize(offsets) - 1, 1, [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b) {
      const int64_t begin = offsets[static_cast<size_t>(b)];
      const int64_t end = offsets[static_cast<size_t>(b) + 1];
      for (int64_t n = begin; n < end; ++n) visit(b, n, 1.0f / static_cast<float>(end - begin));
    }
  });
}

}  // namespace

void mean_rows(const Tensor& x, std::span<const int32_t> offsets, Tensor& y) {
  y.fill_zero();
  const int64_t width = x.cols();
  const float* rows = x.data<float>();
  float* means = y.data<float>();
  visit_rows_of_means(offsets, [&](int64_t b, int64_t n, float share) {
    for (int64_t c = 0; c < width; ++c) means[b * width + c] += share * rows[n * width + c];
  });
}

void mean_rows_backward(const Tensor& dy, std::span<const int32_t> offsets, Tensor& dx) {
  const int64_t width = dy.cols();
  const float* gradients = dy.data<float>();
  float* sums = dx.data<float>();
  visit_rows_of_means(offsets, [&](int64_t b, int64_t n, float share) {
    for (int64_t c = 0; c < width; ++c) sums[n * width + c] += share * gradients[b * width + c];
  });
}

}  // namespace heed::kernels::cpu
