// The largest element of a row and the sum of exponentials relative to it: the first half of every
// softmax.
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

/// Elements that the first-level cache holds with room for as many results.
inline constexpr int64_t kExpPiece = 4096;

/// The sum of exp(x - shift) over the elements seen so far, taken in piece by piece, so that a row
/// is read from memory once (Milakov and Gimelshein 2018). The shift is the largest element, or 0
/// while there is nothing above minus infinity: the sum is 0 then. A NaN makes the sum NaN.
struct ExpSum {
  float largest = -std::numeric_limits<float>::infinity();
  float shift = 0.0f;
  double sum = 0.0;

  /// Takes in piece[0, count); keep(e, at) is given the exponentials relative to the shift that
  /// holds when add returns.
  template <typename T, typename Keep>
  HWY_INLINE void add(const T* piece, int64_t count, const Keep& keep) {
    const float candidate = max_lanes(piece, count);
    if (candidate > largest) {
      sum *= std::exp(static_cast<double>(largest) - candidate);
      largest = shift = candidate;
    }
    const V32 subtracted = set(shift);
    sum += sum_lanes(count, [&](V32 running, auto at) HEED_LANES {
      const auto e = exp_nonpositive(hn::Sub(load(piece, at), subtracted));
      keep(e, at);
      return hn::Add(running, e);
    });
  }

  /// What softmax multiplies the exponentials with.
  float inverse() const { return sum == 0.0 ? 0.0f : static_cast<float>(1.0 / sum); }
  /// log(sum), 0 for an empty sum.
  double log() const { return sum == 0.0 ? 0.0 : std::log(sum); }
};

/// Over x[0, n).
template <typename T>
ExpSum exp_sum(const T* x, int64_t n) {
  ExpSum result;
  for (int64_t begin = 0; begin < n; begin += kExpPiece)
    result.add(x + begin, HWY_MIN(kExpPiece, n - begin), [](V32, auto) HEED_LANES {});
  return result;
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
