// The online softmax of attention (Milakov and Gimelshein 2018; Dao et al. 2022), a few rows at a
// time. Included once per instruction set.
#include <cstdint>
#include <limits>

#include "heed/kernels/cpu/attention/tiles-inl.h"
#include "heed/kernels/cpu/simd/counter_hash-inl.h"
#include "heed/kernels/cpu/simd/math-inl.h"

#if defined(HEED_KERNELS_CPU_ATTENTION_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_CPU_ATTENTION_SOFTMAX_INL_H_
#undef HEED_KERNELS_CPU_ATTENTION_SOFTMAX_INL_H_
#else
#define HEED_KERNELS_CPU_ATTENTION_SOFTMAX_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

/// The state of a row's softmax over the blocks of keys so far.
struct OnlineSoftmax {
  float largest = -std::numeric_limits<float>::infinity();  // of the scores
  float sum = 0.0f;                                         // of exp(score - largest)
};

/// The dropout of a row's weights, from its key `first` on.
struct Drop {
  uint32_t threshold;  // 0: none
  uint64_t key;
  int64_t first;
};

/// A row and its scores for a block of keys, of which the first `visible` are not masked.
struct SoftmaxRow {
  float* scores;
  int64_t visible;
  Drop drop;
  OnlineSoftmax* softmax;
  float rescale;  // result: the factor for the sums over earlier blocks
};

HWY_INLINE V32 without_dropped(V32 weight, Drop drop, int64_t j) {
  if (drop.threshold == 0) return weight;
  const auto hash = counter_hash_lanes(drop.key, static_cast<uint64_t>(drop.first + j));
  const auto dropped = hn::Gt(hn::Set(U32(), drop.threshold), hash);
  return hn::IfThenZeroElse(hn::RebindMask(F32(), dropped), weight);
}

/// The lanes of the row's vector from key j on that are not masked.
HWY_INLINE auto visible_lanes(const SoftmaxRow& row, int64_t j) {
  return hn::FirstN(F32(), static_cast<size_t>(HWY_MIN(row.visible - j, lanes())));
}

/// Lanes whose maximum is the largest score so far.
HWY_INLINE V32 max_lanes_of(const SoftmaxRow& row) {
  const F32 d;
  const auto minus_infinity = hn::Set(d, -std::numeric_limits<float>::infinity());
  auto largest = hn::Set(d, row.softmax->largest);
  for (int64_t j = 0; j < row.visible; j += lanes()) {
    const auto scores = hn::Load(d, row.scores + j);
    largest = hn::Max(largest, hn::IfThenElse(visible_lanes(row, j), scores, minus_infinity));
  }
  return largest;
}

/// Replaces the row's scores by weights exp(score - largest), and masked ones up to `end` by zeros;
/// returns lanes whose sum is that of the weights before dropout.
HWY_INLINE V32 exponentiate(const SoftmaxRow& row, float largest_score, int64_t end) {
  const F32 d;
  const bool any = largest_score != -std::numeric_limits<float>::infinity();
  const int64_t visible = any ? row.visible : 0;
  const auto largest = hn::Set(d, largest_score);
  auto sum = hn::Zero(d);
  int64_t j = 0;
  for (; j < visible; j += lanes()) {
    const auto all = exp_nonpositive(hn::Sub(hn::Load(d, row.scores + j), largest));
    const auto weight = hn::IfThenElseZero(visible_lanes(row, j), all);
    sum = hn::Add(sum, weight);
    hn::Store(without_dropped(weight, row.drop, j), d, row.scores + j);
  }
  for (; j < end; j += lanes()) hn::Store(hn::Zero(d), d, row.scores + j);
  return sum;
}

struct Maximum {
  template <typename V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Max(a, b);
  }
};

struct Sum {
  template <typename V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
};

/// One vector for each row of a panel.
struct PanelLanes {
  HWY_ALIGN float row[8][HWY_MAX_BYTES / 4];
};

/// to[i] = combine of the lanes of row i, four rows at a time, in the same order for every row.
template <typename Combine>
HWY_INLINE void reduce(const PanelLanes& from, int64_t rows, float* to, const Combine& combine) {
  const F32 d;
  const hn::Full128<float> d4;
  const hn::Repartition<uint64_t, F32> d64;
  HWY_ALIGN float quarters[HWY_MAX_BYTES / 4];
  for (int64_t i = 0; i < rows; i += 4) {
    const auto a = hn::Load(d, from.row[i]), b = hn::Load(d, from.row[i + 1]);
    const auto c = hn::Load(d, from.row[i + 2]), e = hn::Load(d, from.row[i + 3]);
    const auto ab =
        hn::BitCast(d64, combine(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)));
    const auto ce =
        hn::BitCast(d64, combine(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e)));
    const auto low = hn::BitCast(d, hn::InterleaveLower(d64, ab, ce));
    const auto high = hn::BitCast(d, hn::InterleaveUpper(d64, ab, ce));
    hn::Store(combine(low, high), d, quarters);
    auto four = hn::Load(d4, quarters);
    for (int64_t j = 4; j < lanes(); j += 4) four = combine(four, hn::Load(d4, quarters + j));
    hn::Store(four, d4, to + i);
  }
}

/// Updates the softmax of at most 8 rows with a block of keys: their scores become weights.
HWY_INLINE void update_softmax(SoftmaxRow* rows, int64_t count, int64_t end) {
  const F32 d;
  PanelLanes partial;
  for (int64_t i = count; i % 4 != 0; ++i) hn::Store(hn::Zero(d), d, partial.row[i]);
  HWY_ALIGN float largest[8], sum[8];
  for (int64_t i = 0; i < count; ++i) hn::Store(max_lanes_of(rows[i]), d, partial.row[i]);
  reduce(partial, count, largest, Maximum());
  for (int64_t i = 0; i < count; ++i)
    hn::Store(exponentiate(rows[i], largest[i], end), d, partial.row[i]);
  reduce(partial, count, sum, Sum());
  for (int64_t i = 0; i < count; ++i) {
    OnlineSoftmax& softmax = *rows[i].softmax;
    const float previous = softmax.largest;
    softmax.largest = largest[i];
    rows[i].rescale = 1.0f;
    if (softmax.sum > 0.0f && previous != largest[i]) {
      const auto difference = hn::Set(d, previous - largest[i]);
      rows[i].rescale = hn::GetLane(exp_nonpositive(difference));
    }
    softmax.sum = softmax.sum * rows[i].rescale + sum[i];
  }
}

/// Adds a score whose value is 0; returns the factor for the sums over the keys.
HWY_INLINE float add_sink(float sink, OnlineSoftmax& softmax) {
  const float largest = HWY_MAX(softmax.largest, sink);
  const auto exp = [&](float score) HWY_ATTR {
    return hn::GetLane(exp_nonpositive(hn::Set(F32(), score - largest)));
  };
  const float rescale = exp(softmax.largest);
  softmax = {largest, softmax.sum * rescale + exp(sink)};
  return rescale;
}

/// The result of a row over a part of the keys: the weighted values [padded] and their softmax.
struct Partial {
  float* values;
  OnlineSoftmax* softmax;
};

/// Merges `from`, over the keys that follow those of `to`, into `to`.
HWY_INLINE void merge(Partial from, int64_t width, Partial to) {
  if (from.softmax->sum == 0.0f) return;
  const F32 d;
  const float largest = HWY_MAX(from.softmax->largest, to.softmax->largest);
  const bool first = to.softmax->sum == 0.0f;
  const auto factor = [&](float own)
                          HWY_ATTR { return exp_nonpositive(hn::Set(d, own - largest)); };
  const auto old = first ? hn::Zero(d) : factor(to.softmax->largest);
  const auto fresh = factor(from.softmax->largest);
  for (int64_t c = 0; c < width; c += lanes()) {
    const auto value = hn::Load(d, from.values + c);
    hn::Store(first ? value : hn::MulAdd(value, fresh, hn::Mul(hn::Load(d, to.values + c), old)), d,
              to.values + c);
  }
  to.softmax->sum =
      first ? from.softmax->sum
            : to.softmax->sum * hn::GetLane(old) + from.softmax->sum * hn::GetLane(fresh);
  to.softmax->largest = largest;
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
