// The largest element of a row and the sum of exponentials relative to it: the first half of a
// softmax. Included once per instruction set.
#include <cmath>

#include "heed/kernels/cpu/simd/lanes-inl.h"
#include "heed/kernels/cpu/simd/math-inl.h"

#if defined(HEED_KERNELS_CPU_EXP_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_CPU_EXP_SUM_INL_H_
#undef HEED_KERNELS_CPU_EXP_SUM_INL_H_
#else
#define HEED_KERNELS_CPU_EXP_SUM_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

/// Elements per chunk: with as many results they fit in a level-1 cache.
inline constexpr int64_t kExpChunk = 4096;

/// The sum of exp(x - shift) over the elements so far, chunk by chunk, so that a row is read from
/// memory once (Milakov and Gimelshein 2018). The shift is the largest element, or 0 while all are
/// minus infinity, and the sum 0. A NaN makes the sum NaN.
struct ExpSum {
  float largest = -std::numeric_limits<float>::infinity();
  float shift = 0.0f;
  double sum = 0.0;

  /// Adds chunk[0, count). put(e, at) receives the exponentials relative to the new shift.
  template <typename T, typename Put>
  HWY_INLINE void add(const T* chunk, int64_t count, const Put& put) {
    const float candidate = max_lanes(chunk, count);
    if (candidate > largest) {
      sum *= std::exp(static_cast<double>(largest) - candidate);
      largest = shift = candidate;
    }
    const V32 subtracted = set(shift);
    sum += sum_lanes(count, [&](V32 running, auto at) HEED_LANES {
      const auto e = exp_nonpositive(hn::Sub(load(chunk, at), subtracted));
      put(e, at);
      return hn::Add(running, e);
    });
  }

  /// The factor of the exponentials in the softmax.
  float inverse() const { return sum == 0.0 ? 0.0f : static_cast<float>(1.0 / sum); }
  /// log(sum), 0 for an empty sum.
  double log() const { return sum == 0.0 ? 0.0 : std::log(sum); }
};

/// Over x[0, n).
template <typename T>
ExpSum exp_sum(const T* x, int64_t n) {
  ExpSum result;
  for (int64_t begin = 0; begin < n; begin += kExpChunk)
    result.add(x + begin, HWY_MIN(kExpChunk, n - begin), [](V32, auto) HEED_LANES {});
  return result;
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
