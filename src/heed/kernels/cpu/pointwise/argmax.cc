#include "heed/kernels/argmax.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/pointwise/argmax.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

/// Of each lane: the largest element, and all bits set if one is NaN.
struct Maximum {
  V32 largest, nan;
};

Maximum maximum_of(const float* x, int64_t count) {
  const auto step = [&](Maximum so_far, auto at) HEED_LANES {
    const V32 value = where_present(at, load(x, at), so_far.largest);
    return Maximum{hn::Max(value, so_far.largest),
                   hn::Or(so_far.nan, hn::VecFromMask(F32(), hn::IsNaN(value)))};
  };
  const auto combine = [](Maximum a, Maximum b) HEED_LANES {
    return Maximum{hn::Max(a.largest, b.largest), hn::Or(a.nan, b.nan)};
  };
  const float lowest = -std::numeric_limits<float>::infinity();
  return fold_lanes(count, Maximum{set(lowest), set(0.0f)}, step, combine);
}

}  // namespace

int64_t argmax(std::span<const float> x) {
  const F32 d;
  const auto count = static_cast<int64_t>(x.size()), lanes = static_cast<int64_t>(hn::Lanes(d));
  const Maximum maximum = maximum_of(x.data(), count);
  if (!hn::AllFalse(d, hn::MaskFromVec(maximum.nan))) return -1;
  const V32 largest = hn::MaxOfLanes(d, maximum.largest);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto found = hn::Eq(load(d, x.data() + i), largest);
    if (!hn::AllFalse(d, found)) return i + static_cast<int64_t>(hn::FindFirstTrue(d, found));
  }
  for (const float value = hn::GetLane(largest); i < count; ++i)
    if (x[static_cast<size_t>(i)] == value) return i;
  return -1;
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(argmax);
int64_t cpu::argmax(std::span<const float> x) { return HWY_DYNAMIC_DISPATCH(argmax)(x); }

}  // namespace heed::kernels
#endif  // HWY_ONCE
