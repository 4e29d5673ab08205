#pragma once

#include <memory>
#include <vector>

#include "heed/model/transformer.h"

namespace heed::checkpoint {

/// Decodes several texts with a decoder-only model, pass by pass, with key/value caches.
class Decoding {
 public:
  Decoding(const model::Transformer& model, size_t texts)
      : model_(model), rows_(texts), caches_(model.make_caches(nn::KeyValueCache::Mode::cache)) {}

  /// Logits [N, V] for the next tokens of every text, packed; texts without new tokens are skipped.
  Tensor feed(const std::vector<std::vector<int32_t>>& next) {
    std::vector<int32_t> input, positions;
    int64_t prompts = 0;  // a text's first tokens; nothing follows them in the same call
    kernels::AttentionMetadata spans{.q_offsets = {0}, .kv_begin = {}, .kv_end = {}, .kv_rows = {}};
    for (size_t text = 0; text < next.size(); ++text) {
      if (next[text].empty()) continue;
      if (rows_[text].empty()) ++prompts;
      for (const int32_t token : next[text]) {
        input.push_back(token);
        positions.push_back(static_cast<int32_t>(rows_[text].size()));
        rows_[text].push_back(cached_++);
      }
      spans.kv_begin.push_back(static_cast<int32_t>(spans.kv_rows.size()));
      spans.kv_rows.insert(spans.kv_rows.end(), rows_[text].begin(), rows_[text].end());
      spans.kv_end.push_back(static_cast<int32_t>(spans.kv_rows.size()));
      spans.q_offsets.push_back(static_cast<int32_t>(input.size()));
    }
    const Tensor states =
        model_.decode(context_, input, {},
                      {positions,
                       {std::make_shared<const kernels::AttentionMetadata>(spans), prompts},
                       nullptr,
                       caches_});
    return model_.logits(context_, states);
  }

  Context& context() { return context_; }
  std::vector<nn::KeyValueCache>& caches() { return caches_; }

 private:
  const model::Transformer& model_;
  Context context_;
  std::vector<std::vector<int32_t>> rows_;  // of the caches, for each text
  int32_t cached_ = 0;
  std::vector<nn::KeyValueCache> caches_;
};

}  // namespace heed::checkpoint
