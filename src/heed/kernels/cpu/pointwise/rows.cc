#include "heed/kernels/rows.h"

#include <algorithm>

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/simd/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/pointwise/rows.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

void gather_rows(const Tensor& x, std::span<const int32_t> rows, Tensor& y) {
  const int64_t cols = x.cols();
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = x.data<T>();
    T* to = y.data<T>();
    parallel_for(y.rows(), grain_rows(kLightGrain, cols), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* row = from + rows[static_cast<size_t>(i)] * cols;
        std::copy(row, row + cols, to + i * cols);
      }
    });
  });
}

void add_rows(const Tensor& x, std::span<const int32_t> rows, Tensor& y) {
  const int64_t cols = x.cols(), count = static_cast<int64_t>(rows.size());
  // Threads share the columns, since a row may be named several times.
  const int64_t grain = std::max<int64_t>(grain_rows(kLightGrain, count), 64);
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = x.data<T>();
    T* to = y.data<T>();
    parallel_for(cols, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < count; ++i) {
        const T* add = from + i * cols;
        T* row = to + rows[static_cast<size_t>(i)] * cols;
        for_lanes(begin, end, [&](auto at) HEED_LANES {
          store(hn::Add(load(row, at), load(add, at)), row, at);
        });
      }
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(gather_rows);
void cpu::gather_rows(const Tensor& x, std::span<const int32_t> rows, Tensor& y) {
  HWY_DYNAMIC_DISPATCH(gather_rows)(x, rows, y);
}
HWY_EXPORT(add_rows);
void cpu::add_rows(const Tensor& x, std::span<const int32_t> rows, Tensor& y) {
  HWY_DYNAMIC_DISPATCH(add_rows)(x, rows, y);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
