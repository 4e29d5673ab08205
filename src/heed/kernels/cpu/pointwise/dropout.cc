#include "heed/kernels/dropout.h"

#include "heed/base/parallel.h"
#include "heed/kernels/counter_hash.h"
#include "heed/kernels/cpu/simd/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/pointwise/dropout.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/counter_hash-inl.h"
#include "heed/kernels/cpu/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

/// y = dropped x (+ residual where `added`) for the elements [begin, end).
template <bool dropping, bool added, typename T>
void dropout_chunk(const T* x, const T* residual, Dropout dropout, T* y, int64_t begin,
                   int64_t end) {
  const V32 scale = set(1.0f / (1.0f - dropout.rate));
  const auto threshold = hn::Set(U32(), drop_threshold(dropout.rate));
  for_lanes(begin, end, [&](auto at) HEED_LANES {
    auto value = load(x, at);
    if constexpr (dropping) {
      const auto hash = counter_hash_lanes(dropout.key, static_cast<uint64_t>(at.index));
      const auto drop = hn::RebindMask(F32(), hn::Gt(threshold, hash));
      value = hn::IfThenZeroElse(drop, hn::Mul(value, scale));
    }
    if constexpr (added) value = hn::Add(value, load(residual, at));
    store(value, y, at);
  });
}

}  // namespace

void dropout_add_forward(const Tensor& x, const Tensor& residual, Dropout dropout, Tensor& y) {
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = x.data<T>();
    const T* other = residual.defined() ? residual.data<T>() : nullptr;
    T* to = y.data<T>();
    const auto chunk =
        dropout.rate > 0.0f
            ? (other ? dropout_chunk<true, true, T> : dropout_chunk<true, false, T>)
            : (other ? dropout_chunk<false, true, T> : dropout_chunk<false, false, T>);
    parallel_for(x.elements(), kLightGrain,
                 [=](int64_t begin, int64_t end) { chunk(from, other, dropout, to, begin, end); });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(dropout_add_forward);
void cpu::dropout_add_forward(const Tensor& x, const Tensor& residual, Dropout dropout, Tensor& y) {
  HWY_DYNAMIC_DISPATCH(dropout_add_forward)(x, residual, dropout, y);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
