#pragma once

#include <cstdint>
#include <vector>

#include "heed/model/transformer.h"

namespace heed::generate {

/// What each token of `target` attends to by definition: a full pass over the source and over
/// `prompt` and the target (teacher forcing), without caches. [source tokens] f32 each, the
/// cross-attention weights of all layers and heads, summed.
inline std::vector<Tensor> teacher_forced_attention(const model::Transformer& model,
                                                    const std::vector<int32_t>& source,
                                                    const std::vector<int32_t>& prompt,
                                                    const std::vector<int32_t>& target) {
  if (target.empty()) return {};
  std::vector<int32_t> input = prompt;
  input.insert(input.end(), target.begin(), target.end() - 1);
  const auto tokens = static_cast<int32_t>(input.size());
  const auto keys = static_cast<int32_t>(source.size());
  Tensor sums = Tensor::zeros({tokens, keys});
  Context context;
  context.observe_attention = [&](AttentionSite site, const kernels::AttentionForward& in) {
    if (site.kind != AttentionSite::Kind::cross) return;
    const Tensor weights = kernels::attention_weights(in, {0, 0, tokens});  // [H, n, S]
    for (int64_t i = 0; i < weights.elements(); ++i)
      sums.data<float>()[i % sums.elements()] += weights.data<float>()[i];
  };
  const std::vector<int32_t> source_offsets{0, keys}, offsets{0, tokens};
  const model::Memory memory = model.encode(context, {source, source_offsets});
  model.decode_all(context, {input, offsets}, memory);
  std::vector<Tensor> rows;
  for (auto row = static_cast<int64_t>(prompt.size()) - 1; row < tokens; ++row)
    rows.push_back(sums.row_slice(row, row + 1));
  return rows;
}

}  // namespace heed::generate
