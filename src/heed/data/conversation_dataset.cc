#include "heed/data/conversation_dataset.h"

namespace heed::data {

Lengths ConversationDataset::lengths_at(int64_t index) const {
  const Conversation& one = example_at(conversations_, index);
  return {.target = static_cast<int32_t>(one.tokens.size()) - 1};
}

Batch ConversationDataset::batch(std::span<const int64_t> indices, int64_t) const {
  Batch batch;
  batch.target_offsets.push_back(0);
  batch.examples.assign(indices.begin(), indices.end());
  for (const int64_t index : indices) {
    const auto& [tokens, assistant] = example_at(conversations_, index);
    const auto begin = static_cast<int32_t>(batch.decoder_input.size());
    for (size_t i = 1; i < tokens.size(); ++i) {
      if (!assistant[i]) continue;
      batch.rows.push_back(begin + static_cast<int32_t>(i) - 1);
      batch.target.push_back(tokens[i]);
    }
    append_sequence(std::span(tokens).first(tokens.size() - 1), batch.decoder_input,
                    batch.target_offsets);
  }
  return batch;
}

}  // namespace heed::data
