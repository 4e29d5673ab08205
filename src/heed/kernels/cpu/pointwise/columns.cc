#include "heed/kernels/columns.h"

#include <algorithm>

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/simd/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/pointwise/columns.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

/// to = from (+ to).
template <typename T>
void put_columns(const T* from, int64_t width, bool accumulate, T* to) {
  if (!accumulate) {
    std::copy(from, from + width, to);
    return;
  }
  for_lanes(0, width,
            [&](auto at) HEED_LANES { store(hn::Add(load(from, at), load(to, at)), to, at); });
}

/// run(row of x, row of y) for all rows.
template <typename Run>
void over_rows(const Tensor& x, const ColumnsOptions& options, Tensor& y, const Run& run) {
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = x.data<T>();
    T* to = y.data<T>();
    const int64_t grain = grain_rows(kLightGrain, options.n_heads * options.width);
    parallel_for(x.rows(), grain, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) run(from + n * x.cols(), to + n * y.cols());
    });
  });
}

}  // namespace

void copy_columns(const Tensor& x, const ColumnsOptions& options, Tensor& y) {
  over_rows(x, options, y, [&](const auto* from, auto* to) {
    for (int64_t h = 0; h < options.n_heads; ++h)
      put_columns(from + options.from.begin + h * options.from.stride, options.width,
                  options.accumulate, to + options.to.begin + h * options.to.stride);
  });
}

void sum_heads(const Tensor& x, const ColumnsOptions& options, Tensor& y) {
  over_rows(x, options, y, [&](const auto* from, auto* to) {
    const auto* first = from + options.from.begin;
    auto* result = to + options.to.begin;
    for_lanes(0, options.width, [&](auto at) HEED_LANES {
      auto sum = options.accumulate ? load(result, at) : set(0.0f);
      for (int64_t h = 0; h < options.n_heads; ++h)
        sum = hn::Add(sum, load(first + h * options.from.stride, at));
      store(sum, result, at);
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(copy_columns);
void cpu::copy_columns(const Tensor& x, const ColumnsOptions& options, Tensor& y) {
  HWY_DYNAMIC_DISPATCH(copy_columns)(x, options, y);
}
HWY_EXPORT(sum_heads);
void cpu::sum_heads(const Tensor& x, const ColumnsOptions& options, Tensor& y) {
  HWY_DYNAMIC_DISPATCH(sum_heads)(x, options, y);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
