#include "heed/kernels/dropout.h"

#include "heed/base/parallel.h"
#include "heed/kernels/counter_hash.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/dropout.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/counter_hash-inl.h"
#include "heed/kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

template <typename T>
void dropout_add(const T* x, const T* residual, Dropout dropout, T* y, int64_t begin, int64_t end) {
  const F32 d;
  const U32 du;
  const auto scale = hn::Set(d, 1.0f / (1.0f - dropout.rate));
  const auto threshold = hn::Set(du, drop_threshold(dropout.rate));
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = begin; i < end; i += lanes) {
    const size_t count = static_cast<size_t>(HWY_MIN(lanes, end - i));
    const bool whole = static_cast<int64_t>(count) == lanes;
    auto value = whole ? load(d, x + i) : load_first(d, x + i, count);
    if (dropout.rate > 0.0f) {
      const auto drop =
          hn::Gt(threshold, counter_hash_lanes(dropout.key, static_cast<uint64_t>(i)));
      value = hn::IfThenZeroElse(hn::RebindMask(d, drop), hn::Mul(value, scale));
    }
    if (residual)
      value = hn::Add(value, whole ? load(d, residual + i) : load_first(d, residual + i, count));
    if (whole)
      store(d, value, y + i);
    else
      store_first(d, value, y + i, count);
  }
}

void dropout_add_f32(const float* x, const float* residual, Dropout dropout, float* y,
                     int64_t begin, int64_t end) {
  dropout_add(x, residual, dropout, y, begin, end);
}

void dropout_add_bf16(const bfloat16* x, const bfloat16* residual, Dropout dropout, bfloat16* y,
                      int64_t begin, int64_t end) {
  dropout_add(x, residual, dropout, y, begin, end);
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(dropout_add_f32);
HWY_EXPORT(dropout_add_bf16);

namespace cpu {
namespace {
constexpr int64_t kGrain = 1 << 14;
}

void dropout_add_forward(const Tensor& x, const Tensor& residual, Dropout dropout, Tensor& y) {
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = x.data<T>();
    const T* added = residual.defined() ? residual.data<T>() : nullptr;
    T* to = y.data<T>();
    parallel_for(x.elements(), kGrain, [&](int64_t begin, int64_t end) {
      if constexpr (sizeof(T) == 4)
        HWY_DYNAMIC_DISPATCH(dropout_add_f32)(from, added, dropout, to, begin, end);
      else
        HWY_DYNAMIC_DISPATCH(dropout_add_bf16)(from, added, dropout, to, begin, end);
    });
  });
}

void dropout_backward(const Tensor& dy, Dropout dropout, Tensor& dx) {
  cpu::dropout_add_forward(dy, {}, dropout, dx);
}

}  // namespace cpu
}  // namespace heed::kernels
#endif  // HWY_ONCE
