#include "heed/kernels/pool_rows.h"

#include <algorithm>
#include <vector>

#include "heed/base/parallel.h"

namespace heed::kernels::cpu {
namespace {

/// Calls visit(b, begin, end) for the rows [begin, end) of every group b, which threads share.
template <typename Visit>
void visit_groups(std::span<const int32_t> offsets, const Visit& visit) {
  parallel_for(std::ssize(offsets) - 1, 1, [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b)
      visit(b, static_cast<int64_t>(offsets[static_cast<size_t>(b)]),
            static_cast<int64_t>(offsets[static_cast<size_t>(b) + 1]));
  });
}

}  // namespace

void sum_rows(const Tensor& x, std::span<const int32_t> offsets, std::span<const float> weights,
              Tensor& y) {
  y.fill_zero();
  const int64_t width = x.cols();
  const float* rows = x.data<float>();
  float* sums = y.data<float>();
  visit_groups(offsets, [&](int64_t b, int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const float weight = weights[static_cast<size_t>(n)];
      for (int64_t c = 0; c < width; ++c) sums[b * width + c] += weight * rows[n * width + c];
    }
  });
}

void sum_rows_backward(const Tensor& dy, std::span<const int32_t> offsets,
                       std::span<const float> weights, Tensor& dx) {
  const int64_t width = dy.cols();
  const float* gradients = dy.data<float>();
  float* sums = dx.data<float>();
  visit_groups(offsets, [&](int64_t b, int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const float weight = weights[static_cast<size_t>(n)];
      for (int64_t c = 0; c < width; ++c) sums[n * width + c] += weight * gradients[b * width + c];
    }
  });
}

void max_rows(const Tensor& x, std::span<const int32_t> offsets, Tensor& y) {
  const int64_t width = x.cols();
  const float* rows = x.data<float>();
  float* largest = y.data<float>();
  visit_groups(offsets, [&](int64_t b, int64_t begin, int64_t end) {
    std::copy_n(rows + begin * width, width, largest + b * width);
    for (int64_t n = begin + 1; n < end; ++n)
      for (int64_t c = 0; c < width; ++c)
        largest[b * width + c] = std::max(largest[b * width + c], rows[n * width + c]);
  });
}

void max_rows_backward(const Tensor& x, const Tensor& y, const Tensor& dy,
                       std::span<const int32_t> offsets, Tensor& dx) {
  const int64_t width = y.cols();
  const float* rows = x.data<float>();
  const float* largest = y.data<float>();
  const float* gradients = dy.data<float>();
  float* sums = dx.data<float>();
  visit_groups(offsets, [&](int64_t b, int64_t begin, int64_t end) {
    std::vector<float> left(gradients + b * width, gradients + (b + 1) * width);
    for (int64_t n = begin; n < end; ++n)
      for (int64_t c = 0; c < width; ++c) {
        float& gradient = left[static_cast<size_t>(c)];
        if (rows[n * width + c] != largest[b * width + c]) continue;
        sums[n * width + c] += gradient;
        gradient = 0;  // of the rows that follow
      }
  });
}

}  // namespace heed::kernels::cpu
