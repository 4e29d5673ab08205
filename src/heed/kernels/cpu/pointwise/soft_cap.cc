#include "heed/kernels/soft_cap.h"

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/simd/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/pointwise/soft_cap.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/lanes-inl.h"
#include "heed/kernels/cpu/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

void soft_cap(float cap, Tensor& x) {
  float* values = x.data<float>();
  parallel_for(x.elements(), kHeavyGrain, [&](int64_t begin, int64_t end) {
    for_lanes(begin, end, [&](auto at) HEED_LANES {
      const auto inside = hn::Mul(load(values, at), set(1.0f / cap));
      store(hn::Mul(set(cap), tanh(inside)), values, at);
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(soft_cap);
void cpu::soft_cap(float cap, Tensor& x) { HWY_DYNAMIC_DISPATCH(soft_cap)(cap, x); }

}  // namespace heed::kernels
#endif  // HWY_ONCE
