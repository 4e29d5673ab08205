#include "heed/kernels/column_sums.h"

#include "heed/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/pointwise/column_sums.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

/// Four vectors of columns at a time over all rows, so that whole cache lines are used.
template <typename T>
void sum_columns(const T* x, int64_t rows, int64_t cols, float* sums, int64_t begin, int64_t end) {
  const F32 d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t col = begin;
  for (; col + 4 * lanes <= end; col += 4 * lanes) {
    auto s0 = load(d, sums + col), s1 = load(d, sums + col + lanes);
    auto s2 = load(d, sums + col + 2 * lanes), s3 = load(d, sums + col + 3 * lanes);
    for (int64_t row = 0; row < rows; ++row) {
      const T* from = x + row * cols + col;
      s0 = hn::Add(s0, load(d, from));
      s1 = hn::Add(s1, load(d, from + lanes));
      s2 = hn::Add(s2, load(d, from + 2 * lanes));
      s3 = hn::Add(s3, load(d, from + 3 * lanes));
    }
    store(d, s0, sums + col);
    store(d, s1, sums + col + lanes);
    store(d, s2, sums + col + 2 * lanes);
    store(d, s3, sums + col + 3 * lanes);
  }
  for (; col < end; ++col) {
    float sum = sums[col];
    for (int64_t row = 0; row < rows; ++row) sum += static_cast<float>(x[row * cols + col]);
    sums[col] = sum;
  }
}

}  // namespace

void column_sums(const Tensor& x, Tensor& sums) {
  constexpr int64_t kColumns = 64;
  float* to = sums.data<float>();
  visit_floating(x.dtype(), [&](auto zero) {
    const auto* from = x.data<decltype(zero)>();
    parallel_for(x.cols(), kColumns, [&](int64_t begin, int64_t end) {
      sum_columns(from, x.rows(), x.cols(), to, begin, end);
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(column_sums);
void cpu::column_sums(const Tensor& x, Tensor& sums) { HWY_DYNAMIC_DISPATCH(column_sums)(x, sums); }

}  // namespace heed::kernels
#endif  // HWY_ONCE
