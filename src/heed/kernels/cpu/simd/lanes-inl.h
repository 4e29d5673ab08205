// Loops over arrays of any length, one vector at a time. A lambda receives the position of a whole
// vector, or of the part at the end, and reads and writes there with load and store. It is written
// once for f32 and bf16, whole vectors and tails:
//   for_lanes(0, n, [&](auto at) HEED_LANES { store(hn::Add(load(x, at), load(y, at)), y, at); });
#include <cstdint>
#include <limits>

#include "heed/kernels/cpu/simd/simd-inl.h"

#if defined(HEED_KERNELS_CPU_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_CPU_LANES_INL_H_
#undef HEED_KERNELS_CPU_LANES_INL_H_
#else
#define HEED_KERNELS_CPU_LANES_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

/// The vector from element `index` on; of a Part, only the first `count` lanes exist.
struct Whole {
  int64_t index;
};
struct Part {
  int64_t index;
  size_t count;
};

template <typename T>
HWY_INLINE V32 load(const T* from, Whole at) {
  return load(F32(), from + at.index);
}
template <typename T>
HWY_INLINE V32 load(const T* from, Part at) {
  return load_first(F32(), from + at.index, at.count);
}

template <typename T>
HWY_INLINE void store(V32 value, T* to, Whole at) {
  store(F32(), value, to + at.index);
}
template <typename T>
HWY_INLINE void store(V32 value, T* to, Part at) {
  store_first(F32(), value, to + at.index, at.count);
}

HWY_INLINE V32 set(float value) { return hn::Set(F32(), value); }

/// body(at) for every vector of [begin, end).
template <typename Body>
HWY_INLINE void for_lanes(int64_t begin, int64_t end, const Body& body) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(F32()));
  int64_t i = begin;
  for (; i + lanes <= end; i += lanes) body(Whole{i});
  if (i < end) body(Part{i, static_cast<size_t>(end - i)});
}

/// `value` in the lanes that exist, `otherwise` in the others.
HWY_INLINE V32 where_present(Whole, V32 value, V32) { return value; }
HWY_INLINE V32 where_present(Part at, V32 value, V32 otherwise) {
  return hn::IfThenElse(hn::FirstN(F32(), at.count), value, otherwise);
}

/// Folds the vectors of [0, n): state = step(state, at). Four states, each `start` at first, take
/// turns, so that steps need not wait for each other, and are combined in the end. The order
/// depends on n alone.
template <typename State, typename Step, typename Combine>
HWY_INLINE State fold_lanes(int64_t n, State start, const Step& step, const Combine& combine) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(F32()));
  State a = start, b = start, c = start, e = start;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a = step(a, Whole{i});
    b = step(b, Whole{i + lanes});
    c = step(c, Whole{i + 2 * lanes});
    e = step(e, Whole{i + 3 * lanes});
  }
  for (; i + lanes <= n; i += lanes) a = step(a, Whole{i});
  if (i < n) b = step(b, Part{i, static_cast<size_t>(n - i)});
  return combine(combine(a, b), combine(c, e));
}

HWY_INLINE float sum_of(V32 lanes) { return hn::GetLane(hn::SumOfLanes(F32(), lanes)); }

/// The sum over [0, n): step(sum, at) returns the sum with the terms at `at`.
template <typename Step>
HWY_INLINE float sum_lanes(int64_t n, const Step& step) {
  const auto present = [&](V32 sum, auto at)
                           HEED_LANES { return where_present(at, step(sum, at), sum); };
  const auto join = [](V32 a, V32 b) HEED_LANES { return hn::Add(a, b); };
  return sum_of(fold_lanes(n, set(0.0f), present, join));
}

/// The largest of x[0, n), ignoring NaN; minus infinity if n is 0.
template <typename T>
HWY_INLINE float max_lanes(const T* x, int64_t n) {
  const float lowest = -std::numeric_limits<float>::infinity();
  // On x86, Max returns its second operand if one is NaN.
  const auto step = [&](V32 largest, auto at) HEED_LANES {
    return where_present(at, hn::Max(load(x, at), largest), largest);
  };
  const auto join = [](V32 a, V32 b) HEED_LANES { return hn::Max(a, b); };
  return hn::GetLane(hn::MaxOfLanes(F32(), fold_lanes(n, set(lowest), step, join)));
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
