#include "heed/kernels/argmax.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/pointwise/argmax.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

/// What was seen of a row: its largest number, and whether there was a NaN.
struct Seen {
  V32 largest, not_a_number;
};

Seen look_at(const float* x, int64_t count) {
  const auto step = [&](Seen seen, auto at) HEED_LANES {
    const V32 value = where_present(at, load(x, at), seen.largest);
    return Seen{hn::Max(value, seen.largest),
                hn::Or(seen.not_a_number, hn::VecFromMask(F32(), hn::IsNaN(value)))};
  };
  const auto join = [](Seen a, Seen b) HEED_LANES {
    return Seen{hn::Max(a.largest, b.largest), hn::Or(a.not_a_number, b.not_a_number)};
  };
  const float lowest = -std::numeric_limits<float>::infinity();
  return fold_lanes(count, Seen{set(lowest), set(0.0f)}, step, join);
}

}  // namespace

int64_t argmax(std::span<const float> x) {
  const F32 d;
  const auto count = static_cast<int64_t>(x.size()), lanes = static_cast<int64_t>(hn::Lanes(d));
  const Seen seen = look_at(x.data(), count);
  if (!hn::AllFalse(d, hn::MaskFromVec(seen.not_a_number))) return -1;
  const V32 largest = hn::MaxOfLanes(d, seen.largest);
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
