#include <algorithm>
#include <limits>
#include <span>

#include "heed/base/parallel.h"
#include "heed/base/rounding.h"
#include "heed/kernels/attention.h"
#include "heed/kernels/cpu/attention/work.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/attention/weights.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/attention/decode_attention-inl.h"
#include "heed/kernels/cpu/attention/scores-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

/// Scores of a panel, rows [begin, begin + rows) of a group, and all keys they see.
template <typename T, typename K>
Rows<float> all_scores(const cpu::AttentionGroup& group, const T* q, const K* k, int64_t begin,
                       int64_t rows) {
  const int64_t d = group.shape->d;
  const int64_t blocks = (group.keys + cpu::kKeyBlock - 1) / cpu::kKeyBlock;
  const Rows<float> scores{
      cpu::scratch(cpu::Slot::scores, cpu::kPanelRows * (blocks + 1) * cpu::kKeyBlock),
      blocks * cpu::kKeyBlock};
  const auto queries = pack_queries(group, q, d, group.shape->scale, begin, rows, cpu::Slot::q);
  static_assert(cpu::kPanelRows <= kDecodeRows);
  const bool in_place = readable_in_place<K>(d, group.shape->dv);
  float* transposed = cpu::scratch(cpu::Slot::k_transposed, cpu::kKeyBlock * padded(d));
  const int64_t visible = group.visible(begin + rows - 1);
  for (int64_t key = 0; key < visible; key += cpu::kKeyBlock) {
    const int64_t count = HWY_MIN(cpu::kKeyBlock, visible - key);
    const KeyRows<K> keys = find_keys(group, k, d, key, count);
    const Rows<float> block{scores.data + key, scores.stride};
    if (in_place) {
      score_rows(rows, queries, d, keys, count, block);
    } else {
      const Rows<float> columns{transposed, padded(count)};
      pack_transposed(keys, d, count, cpu::Slot::k, columns);
      product(rows, vectors_for(count), d, {queries.data, queries.stride, 1},
              {columns.data, columns.stride}, block, false);
    }
    for (int64_t r = 0; r < rows && group.shape->adjusts_scores(); ++r)
      adjust_scores({group, begin + r, key, count, scores.data + r * scores.stride + key}, nullptr);
  }
  return scores;
}

/// weights[0, keys) = softmax of the first `visible` scores and, unless it is null, of `sink`;
/// zeros after them.
void normalize(const float* scores, const float* sink, int64_t visible, std::span<float> weights) {
  const F32 d;
  float largest = visible > 0 ? *std::max_element(scores, scores + visible) : 0.0f;
  if (sink) largest = std::max(largest, *sink);
  float sum = sink ? hn::GetLane(exp_nonpositive(hn::Set(d, *sink - largest))) : 0.0f;
  for (int64_t j = 0; j < visible; j += lanes()) {
    const size_t count = static_cast<size_t>(HWY_MIN(visible - j, lanes()));
    const auto shifted = hn::Sub(hn::Load(d, scores + j), hn::Set(d, largest));
    const auto weight = hn::IfThenElseZero(hn::FirstN(d, count), exp_nonpositive(shifted));
    sum += hn::GetLane(hn::SumOfLanes(d, weight));
    store_first(d, weight, weights.data() + j, count);
  }
  const auto seen = weights.first(static_cast<size_t>(visible));
  for (float& weight : seen) weight /= sum;
  std::ranges::fill(weights.subspan(seen.size()), 0.0f);
}

/// Writes the weights of the rows of a panel into `weights` [H, range.size(), keys].
template <typename T, typename K>
void write_panel(const cpu::WeightsPanel& panel, const T* q, const K* k, float* weights) {
  const cpu::AttentionGroup& group = panel.group;
  const int64_t rows = panel.end - panel.begin;
  const Rows<float> scores = all_scores(group, q, k, panel.begin, rows);
  const int64_t heads = group.shape->heads_per_group;
  for (int64_t r = panel.begin; r < panel.end; ++r) {
    const int64_t h = group.head(r);
    const int64_t query = r / heads - panel.range.begin;
    float* const row = weights + (h * panel.range.size() + query) * group.keys;
    normalize(scores.data + (r - panel.begin) * scores.stride,
              group.shape->sinks ? group.shape->sinks + h : nullptr, group.visible(r),
              {row, static_cast<size_t>(group.keys)});
  }
}

void write_weights(const AttentionForward& in, const cpu::WeightsPanel& panel, float* weights) {
  const auto write = [&](const auto* q, const auto* k) { write_panel(panel, q, k, weights); };
  if (in.q.dtype() == DType::bf16) return write(in.q.data<bfloat16>(), in.k.data<bfloat16>());
  if (in.k.dtype() == DType::bf16) return write(in.q.data<float>(), in.k.data<bfloat16>());
  write(in.q.data<float>(), in.k.data<float>());
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(write_weights);

namespace cpu {
namespace {

/// Where the pairs of a sequence begin in a pair bias.
int64_t pairs_before(const AttentionMetadata& spans, size_t sequence) {
  int64_t pairs = 0;
  for (size_t b = 0; b < sequence; ++b)
    pairs += int64_t{spans.q_offsets[b + 1] - spans.q_offsets[b]} *
             (spans.kv_end[b] - spans.kv_begin[b]);
  return pairs;
}

}  // namespace

Tensor attention_weights(const AttentionForward& in, const QueryRange& range) {
  const size_t b = static_cast<size_t>(range.sequence);
  const AttentionShape shape(in);
  const AttentionMetadata one{{in.spans.q_offsets[b], in.spans.q_offsets[b + 1]},
                              {in.spans.kv_begin[b]},
                              {in.spans.kv_end[b]},
                              {}};
  std::vector<AttentionGroup> groups;
  find_groups(one, shape, false, groups);
  for (AttentionGroup& group : groups) group.first_pair = pairs_before(in.spans, b);
  Tensor weights = Tensor::empty({shape.n_heads, range.size(), groups.front().keys});
  float* to = weights.data<float>();
  const int64_t first = range.begin * shape.heads_per_group;
  const int64_t end_row = range.end * shape.heads_per_group;
  const int64_t panels = ceil_div(end_row - first, kPanelRows);
  parallel_for(panels * shape.n_kv_heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = first + i % panels * kPanelRows;
      const WeightsPanel panel{groups[static_cast<size_t>(i / panels)], range, row,
                               std::min(row + kPanelRows, end_row)};
      HWY_DYNAMIC_DISPATCH(write_weights)(in, panel, to);
    }
  });
  return weights;
}

}  // namespace cpu
}  // namespace heed::kernels
#endif  // HWY_ONCE
