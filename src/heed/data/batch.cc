#include "heed/data/batch.h"

#include <limits>

namespace heed::data {

void append_sequence(std::span<const int32_t> sequence, std::vector<int32_t>& tokens,
                     std::vector<int32_t>& offsets) {
  constexpr auto kMaxTokens = static_cast<size_t>(std::numeric_limits<int32_t>::max());
  require(sequence.size() <= kMaxTokens - tokens.size(), "a batch has more than {} tokens",
          kMaxTokens);
  tokens.insert(tokens.end(), sequence.begin(), sequence.end());
  offsets.push_back(static_cast<int32_t>(tokens.size()));
}

void append_example(const Example& example, int32_t start_id, Batch& batch) {
  append_sequence(example.source, batch.source, batch.source_offsets);
  append_sequence(example.target, batch.target, batch.target_offsets);
  if (example.target.empty()) return;
  batch.decoder_input.push_back(example.start >= 0 ? example.start : start_id);
  batch.decoder_input.insert(batch.decoder_input.end(), example.target.begin(),
                             example.target.end() - 1);
}

Batch make_batch(std::span<const Example> examples, std::span<const int64_t> indices,
                 int32_t start_id) {
  Batch batch;
  batch.source_offsets.push_back(0);
  batch.target_offsets.push_back(0);
  batch.examples.assign(indices.begin(), indices.end());
  for (const int64_t index : indices) append_example(example_at(examples, index), start_id, batch);
  return batch;
}

}  // namespace heed::data
