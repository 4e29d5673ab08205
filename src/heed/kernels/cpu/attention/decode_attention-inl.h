// Attention of a few query rows, as in decoding: keys and values are read once for all of the rows,
// in place. The sums are those of product() in tiles-inl.h, in the same order. Included once per
// instruction set.
#include <cstdint>

#include "heed/kernels/cpu/attention/tiles-inl.h"

#if defined(HEED_KERNELS_CPU_ATTENTION_DECODE_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_CPU_ATTENTION_DECODE_ATTENTION_INL_H_
#undef HEED_KERNELS_CPU_ATTENTION_DECODE_ATTENTION_INL_H_
#else
#define HEED_KERNELS_CPU_ATTENTION_DECODE_ATTENTION_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

/// Up to this many rows share a pass over keys that are read in place.
constexpr int64_t kDecodeRows = 8;

/// Whether keys of width d and values of width dv can be read in place.
template <typename T>
HWY_INLINE bool readable_in_place(int64_t d, int64_t dv) {
  if constexpr (!is_plain(dtype_of<T>))
    return true;
  else
    return d % static_cast<int64_t>(4 * sizeof(float) / sizeof(T)) == 0 && dv % lanes() == 0;
}

// Defined in decode_attention.cc for float, bfloat16 and BlockQ8_0, for at most kDecodeRows rows.

/// scores[i, j] = row i of q times key j, for the first `count` keys.
template <typename T>
void score_rows(int64_t rows, Rows<const float> q, int64_t width, const KeyRows<T>& keys,
                int64_t count, Rows<float> scores);

/// out[i] (+)= the sum over j of weights[i, j] times value j, for `count` values.
template <typename T>
void accumulate_values(int64_t rows, Rows<const float> weights, const KeyRows<T>& values,
                       int64_t count, int64_t width, Rows<float> out, bool accumulate);

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
