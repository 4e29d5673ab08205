#include "heed/data/causal_dataset.h"

namespace heed::data {

Lengths CausalDataset::lengths_at(int64_t index) const {
  return {.target = static_cast<int32_t>(example_at(windows_, index).length())};
}

Batch CausalDataset::batch(std::span<const int64_t> indices, int64_t) const {
  Batch batch;
  batch.target_offsets.push_back(0);
  batch.examples.assign(indices.begin(), indices.end());
  for (const int64_t index : indices) {
    const Window& window = example_at(windows_, index);
    const std::span<const int32_t> tokens = tokens_of(documents_, window);
    const auto& document = (*documents_)[static_cast<size_t>(window.document)];
    batch.decoder_input.push_back(
        window.begin == 0 ? start_id_ : document[static_cast<size_t>(window.begin - 1)]);
    batch.decoder_input.insert(batch.decoder_input.end(), tokens.begin(), tokens.end() - 1);
    append_sequence(tokens, batch.target, batch.target_offsets);
  }
  return batch;
}

}  // namespace heed::data
