// Adjustments of scaled scores before the softmax: soft cap, relative bias, window. Included once
// per instruction set.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "heed/kernels/cpu/attention/work.h"
#include "heed/kernels/cpu/simd/lanes-inl.h"
#include "heed/kernels/cpu/simd/math-inl.h"

#if defined(HEED_KERNELS_CPU_ATTENTION_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_CPU_ATTENTION_SCORES_INL_H_
#undef HEED_KERNELS_CPU_ATTENTION_SCORES_INL_H_
#else
#define HEED_KERNELS_CPU_ATTENTION_SCORES_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

/// The scores of a row of a group for its keys [key, key + count).
struct ScoreRow {
  const cpu::AttentionGroup& group;
  int64_t row, key, count;
  float* scores;

  /// The offset of this row's head in the relative bias [H, 2 R - 1].
  int64_t bias_offset() const { return group.head(row) * group.shape->bias_width(); }
};

/// The keys of a row within the reach of the relative bias: key j of [begin, end) has column
/// column + j - begin. Keys before share the first column, keys after the last.
struct NearKeys {
  int64_t begin, end, column;
};

HWY_INLINE NearKeys near_keys(const ScoreRow& at) {
  const int64_t reach = at.group.shape->reach;
  const int64_t position = at.group.position(at.row) - at.key;
  const int64_t begin = std::clamp<int64_t>(position - (reach - 1), 0, at.count);
  return {begin, std::clamp<int64_t>(position + reach, begin, at.count),
          begin - position + reach - 1};
}

HWY_INLINE void add_bias(const ScoreRow& at) {
  const float* bias = at.group.shape->relative_bias + at.bias_offset();
  const NearKeys near = near_keys(at);
  float* scores = at.scores;
  for (int64_t j = 0; j < near.begin; ++j) scores[j] += bias[0];
  for (int64_t j = near.end; j < at.count; ++j) scores[j] += bias[at.group.shape->bias_width() - 1];
  const float* own = bias + near.column;
  scores += near.begin;
  for_lanes(0, near.end - near.begin, [&](auto lane) HEED_LANES {
    store(hn::Add(load(scores, lane), load(own, lane)), scores, lane);
  });
}

HWY_INLINE void add_pair_bias(const ScoreRow& at) {
  const float* own = at.group.shape->pair_bias + at.group.pair_index(at.row, at.key);
  for_lanes(0, at.count, [&](auto lane) HEED_LANES {
    store(hn::Add(load(at.scores, lane), load(own, lane)), at.scores, lane);
  });
}

/// d_bias += the gradient of add_bias, for the row's head.
HWY_INLINE void add_bias_gradient(const ScoreRow& at, const float* d_scores, float* d_bias) {
  const NearKeys near = near_keys(at);
  for (int64_t j = 0; j < near.begin; ++j) d_bias[0] += d_scores[j];
  float* own = d_bias + near.column;
  d_scores += near.begin;
  for_lanes(0, near.end - near.begin, [&](auto lane) HEED_LANES {
    store(hn::Add(load(own, lane), load(d_scores, lane)), own, lane);
  });
  float* last = d_bias + at.group.shape->bias_width() - 1;
  for (int64_t j = near.end; j < at.count; ++j) *last += d_scores[j - near.begin];
}

/// scores = cap tanh(scores / cap) and, unless `derivatives` is null, its derivative; whole
/// vectors.
HWY_INLINE void cap_scores(const ScoreRow& at, float* derivatives) {
  const F32 d;
  const float cap = at.group.shape->soft_cap;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t j = 0; j < at.count; j += lanes) {
    const auto t = tanh(hn::Mul(hn::Load(d, at.scores + j), hn::Set(d, 1.0f / cap)));
    hn::Store(hn::Mul(t, hn::Set(d, cap)), d, at.scores + j);
    if (derivatives) hn::Store(hn::NegMulAdd(t, t, hn::Set(d, 1.0f)), d, derivatives + j);
  }
}

/// Applies what the shape specifies; `derivatives` may be null, see cap_scores. Scores outside the
/// window become minus infinity, so that later steps do not depend on where it begins.
HWY_INLINE void adjust_scores(const ScoreRow& at, float* derivatives) {
  const cpu::AttentionShape& shape = *at.group.shape;
  if (shape.soft_cap > 0.0f) cap_scores(at, derivatives);
  if (shape.relative_bias) add_bias(at);
  if (shape.pair_bias) add_pair_bias(at);
  const int64_t outside_window =
      std::clamp<int64_t>(at.group.outside_window(at.row) - at.key, 0, at.count);
  std::fill(at.scores, at.scores + outside_window, -std::numeric_limits<float>::infinity());
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
