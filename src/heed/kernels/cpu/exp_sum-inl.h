// The largest element of a row and the sum of exponentials relative to it: the first half of every
// softmax.
#include <cmath>

#include "heed/kernels/cpu/lanes-inl.h"
#include "heed/kernels/cpu/math-inl.h"

#if defined(HEED_KERNELS_CPU_EXP_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_CPU_EXP_SUM_INL_H_
#undef HEED_KERNELS_CPU_EXP_SUM_INL_H_
#else
#define HEED_KERNELS_CPU_EXP_SUM_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

/// exp(x - shift) sums to `sum` over the row. The shift is the row's maximum, or 0 when there is
/// nothing above minus infinity: the sum is 0 then. A NaN in the row makes the sum NaN.
struct ExpSum {
  float shift = 0.0f;
  double sum = 0.0;

  /// What softmax multiplies the exponentials with.
  float inverse() const { return sum == 0.0 ? 0.0f : static_cast<float>(1.0 / sum); }
  /// log(sum), 0 for an empty sum.
  double log() const { return sum == 0.0 ? 0.0 : std::log(sum); }
};

/// Over x[0, n), in one pass over memory: piece by piece that the first-level cache holds, each
/// piece relative to the largest so far (Milakov and Gimelshein 2018).
template <typename T>
ExpSum exp_sum(const T* x, int64_t n) {
  constexpr int64_t kPiece = 4096;
  float largest = -std::numeric_limits<float>::infinity();
  ExpSum result;
  for (int64_t begin = 0; begin < n; begin += kPiece) {
    const T* piece = x + begin;
    const int64_t count = HWY_MIN(kPiece, n - begin);
    const float candidate = max_lanes(piece, count);
    if (candidate > largest) {
      result.sum *= std::exp(static_cast<double>(largest) - candidate);
      largest = result.shift = candidate;
    }
    const V32 shift = set(result.shift);
    result.sum += sum_lanes(count, [&](V32 sum, auto at) HEED_LANES {
      return hn::Add(sum, exp_nonpositive(hn::Sub(load(piece, at), shift)));
    });
  }
  return result;
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
