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

/// What a row remembers of the blocks of keys it has seen.
struct Softmax {
  float largest = -std::numeric_limits<float>::infinity();  // of the scores
  float sum = 0.0f;                                         // of exp(score - largest)
};

/// Which weights of a row are dropped, from its key number `first` on.
struct Drop {
  uint32_t threshold;  // 0: none
  uint64_t key;
  int64_t first;
};

/// A row and its scores for a block of keys, of which it sees the first `visible`.
struct SoftmaxRow {
  float* scores;
  int64_t visible;
  Drop drop;
  Softmax* softmax;
  float shrink;  // result: what the sums over earlier blocks are to be multiplied with
};

HWY_INLINE V32 without_dropped(V32 weight, Drop drop, int64_t j) {
  if (drop.threshold == 0) return weight;
  const auto hash = counter_hash_lanes(drop.key, static_cast<uint64_t>(drop.first + j));
  const auto dropped = hn::Gt(hn::Set(U32(), drop.threshold), hash);
  return hn::IfThenZeroElse(hn::RebindMask(F32(), dropped), weight);
}

/// Lanes whose largest is the largest score so far.
HWY_INLINE V32 largest_of(const SoftmaxRow& row) {
  const F32 d;
  const auto minus_infinity = hn::Set(d, -std::numeric_limits<float>::infinity());
  auto largest = hn::Set(d, row.softmax->largest);
  int64_t j = 0;
  for (; j + lanes() <= row.visible; j += lanes())
    largest = hn::Max(largest, hn::Load(d, row.scores + j));
  if (j < row.visible) {
    const auto inside = hn::FirstN(d, static_cast<size_t>(row.visible - j));
    largest = hn::Max(largest, hn::IfThenElse(inside, hn::Load(d, row.scores + j), minus_infinity));
  }
  return largest;
}

/// Replaces the row's scores by their weights, exp(score - largest), and those up to `end` that it
/// does not see by zeros; returns lanes whose sum is that of the weights, before dropout.
HWY_INLINE V32 weigh(const SoftmaxRow& row, float largest_score, int64_t end) {
  const F32 d;
  const bool any = largest_score != -std::numeric_limits<float>::infinity();
  const int64_t visible = any ? row.visible : 0;
  const auto largest = hn::Set(d, largest_score);
  auto sum = hn::Zero(d);
  int64_t j = 0;
  for (; j + lanes() <= visible; j += lanes()) {
    const auto weight = exp_nonpositive(hn::Sub(hn::Load(d, row.scores + j), largest));
    sum = hn::Add(sum, weight);
    hn::Store(without_dropped(weight, row.drop, j), d, row.scores + j);
  }
  if (j < visible) {
    const auto inside = hn::FirstN(d, static_cast<size_t>(visible - j));
    const auto all = exp_nonpositive(hn::Sub(hn::Load(d, row.scores + j), largest));
    const auto weight = hn::IfThenElseZero(inside, all);
    sum = hn::Add(sum, weight);
    hn::Store(without_dropped(weight, row.drop, j), d, row.scores + j);
    j += lanes();
  }
  for (; j < end; j += lanes()) hn::Store(hn::Zero(d), d, row.scores + j);
  return sum;
}

struct Largest {
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

/// One vector a row of a panel.
struct PanelLanes {
  HWY_ALIGN float row[8][HWY_MAX_BYTES / 4] = {};
};

/// to[i] = join of the lanes of row i, four rows at a time; one order for every row.
template <typename Join>
HWY_INLINE void reduce(const PanelLanes& from, int64_t rows, float* to, const Join& join) {
  const F32 d;
  const hn::Full128<float> d4;
  const hn::Repartition<uint64_t, F32> d64;
  HWY_ALIGN float quarters[HWY_MAX_BYTES / 4];
  for (int64_t i = 0; i < rows; i += 4) {
    const auto a = hn::Load(d, from.row[i]), b = hn::Load(d, from.row[i + 1]);
    const auto c = hn::Load(d, from.row[i + 2]), e = hn::Load(d, from.row[i + 3]);
    const auto ab =
        hn::BitCast(d64, join(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)));
    const auto ce =
        hn::BitCast(d64, join(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e)));
    const auto low = hn::BitCast(d, hn::InterleaveLower(d64, ab, ce));
    const auto high = hn::BitCast(d, hn::InterleaveUpper(d64, ab, ce));
    hn::Store(join(low, high), d, quarters);
    auto four = hn::Load(d4, quarters);
    for (int64_t j = 4; j < lanes(); j += 4) four = join(four, hn::Load(d4, quarters + j));
    hn::Store(four, d4, to + i);
  }
}

/// Takes a block of keys into the softmax of at most kPanelRows rows: their scores become weights.
HWY_INLINE void soften(SoftmaxRow* rows, int64_t count, int64_t end) {
  const F32 d;
  PanelLanes partial;
  HWY_ALIGN float largest[8], sum[8];
  for (int64_t i = 0; i < count; ++i) hn::Store(largest_of(rows[i]), d, partial.row[i]);
  reduce(partial, count, largest, Largest());
  for (int64_t i = 0; i < count; ++i) hn::Store(weigh(rows[i], largest[i], end), d, partial.row[i]);
  reduce(partial, count, sum, Sum());
  for (int64_t i = 0; i < count; ++i) {
    Softmax& softmax = *rows[i].softmax;
    const float previous = softmax.largest;
    softmax.largest = largest[i];
    rows[i].shrink = 1.0f;
    if (softmax.sum > 0.0f && previous != largest[i]) {
      const auto difference = hn::Set(d, previous - largest[i]);
      rows[i].shrink = hn::GetLane(exp_nonpositive(difference));
    }
    softmax.sum = softmax.sum * rows[i].shrink + sum[i];
  }
}

/// What a row has of some pieces of the keys: the mixed values [padded] and their softmax.
struct Mixture {
  float* values;
  Softmax* softmax;
};

/// to = to and from, which has seen the keys behind those of to.
HWY_INLINE void join(Mixture from, int64_t width, Mixture to) {
  if (from.softmax->sum == 0.0f) return;
  const F32 d;
  const float largest = HWY_MAX(from.softmax->largest, to.softmax->largest);
  const bool first = to.softmax->sum == 0.0f;
  const auto shrink = [&](float own)
                          HWY_ATTR { return exp_nonpositive(hn::Set(d, own - largest)); };
  const auto old = first ? hn::Zero(d) : shrink(to.softmax->largest);
  const auto fresh = shrink(from.softmax->largest);
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
