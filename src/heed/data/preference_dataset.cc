#include "heed/data/preference_dataset.h"

namespace heed::data {
namespace {

/// A prompt with one of its answers.
void append(const std::vector<int32_t>& prompt, const std::vector<int32_t>& answer, Batch& batch) {
  std::vector<int32_t> input = prompt;
  input.insert(input.end(), answer.begin(), answer.end() - 1);
  const auto begin = static_cast<int32_t>(batch.decoder_input.size() + prompt.size()) - 1;
  for (size_t i = 0; i < answer.size(); ++i) batch.rows.push_back(begin + static_cast<int32_t>(i));
  batch.target.insert(batch.target.end(), answer.begin(), answer.end());
  batch.preferences.offsets.push_back(static_cast<int32_t>(batch.rows.size()));
  append_sequence(input, batch.decoder_input, batch.target_offsets);
}

}  // namespace

Lengths PreferenceDataset::lengths_at(int64_t index) const {
  const auto& [prompt, chosen, rejected] = example_at(examples_, index);
  return {.target = static_cast<int32_t>(2 * prompt.size() + chosen.size() + rejected.size())};
}

Batch PreferenceDataset::batch(std::span<const int64_t> indices, int64_t) const {
  Batch batch;
  batch.target_offsets.push_back(0);
  batch.preferences = {.offsets = {0}, .beta = beta_};
  batch.examples.assign(indices.begin(), indices.end());
  for (const int64_t index : indices) {
    const auto& [prompt, chosen, rejected] = example_at(examples_, index);
    append(prompt, chosen, batch);
    append(prompt, rejected, batch);
  }
  return batch;
}

}  // namespace heed::data
