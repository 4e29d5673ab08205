#include "heed/generate/cross_attention_sums.h"

#include <algorithm>

#include "heed/tensor/parallel_on_host.h"

namespace heed::generate {

void CrossAttentionSums::add(int32_t first, std::span<const int32_t> cache_rows,
                             std::span<const int32_t> memory_rows) {
  const bool continues = !groups_.empty() && groups_.back().spans.q_offsets.back() == first &&
                         std::ranges::equal(groups_.back().spans.kv_rows, memory_rows);
  const auto keys = static_cast<int32_t>(memory_rows.size());
  if (!continues)
    groups_.push_back(
        {{{first, first}, {0}, {keys}, {memory_rows.begin(), memory_rows.end()}}, {}});
  Group& group = groups_.back();
  group.spans.q_offsets.back() += static_cast<int32_t>(cache_rows.size());
  group.cache_rows.insert(group.cache_rows.end(), cache_rows.begin(), cache_rows.end());
  for (const int32_t row : cache_rows) {
    const auto index = static_cast<size_t>(row);
    if (index >= by_row_.size()) by_row_.resize(index + 1);
    by_row_[index] = Tensor::zeros({keys});
  }
}

/// The sums of a token are taken in the order of layers, then heads, whatever else is in the pass.
void CrossAttentionSums::add_weights(const Group& group, const kernels::AttentionForward& in) {
  const kernels::AttentionForward own{
      in.q, in.k, in.v, group.spans, in.options, in.relative_bias, in.sinks, in.pair_bias};
  const Tensor weights = kernels::attention_weights(own, {0, 0, std::ssize(group.cache_rows)})
                             .to(nullptr);  // [H, n, S]
  const int64_t keys = weights.cols();
  const float* from = weights.data<float>();
  for (int64_t head = 0; head < in.options.n_heads; ++head)
    for (const int32_t row : group.cache_rows) {
      float* const sums = by_row_[static_cast<size_t>(row)].data<float>();
      for (int64_t key = 0; key < keys; ++key) sums[key] += *from++;
    }
}

void CrossAttentionSums::add_weights(AttentionSite site, const kernels::AttentionForward& in) {
  if (site.kind != AttentionSite::Kind::cross) return;
  parallel_on_host(std::ssize(groups_), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) add_weights(groups_[static_cast<size_t>(i)], in);
  });
}

}  // namespace heed::generate
