#include "heed/data/text_group_dataset.h"

namespace heed::data {
namespace {

/// Adds the tokens of a text that have a vector; its first token is `first` of the batch.
void append_scored(const std::vector<int32_t>& places, int32_t first, TextGroups& groups) {
  if (groups.vector_offsets.empty()) groups.vector_offsets.push_back(0);
  for (const int32_t place : places) groups.scored.push_back(first + place);
  groups.vector_offsets.push_back(static_cast<int32_t>(groups.scored.size()));
}

}  // namespace

Lengths TextGroupDataset::lengths_at(int64_t index) const {
  Lengths lengths;
  for (const std::vector<int32_t>& text : example_at(groups_, index).ids)
    lengths.source += static_cast<int32_t>(text.size());
  return lengths;
}

Batch TextGroupDataset::batch(std::span<const int64_t> indices, int64_t) const {
  Batch batch;
  batch.source_offsets.push_back(0);
  batch.examples.assign(indices.begin(), indices.end());
  TextGroups& all = batch.groups;
  all.options = options_;
  all.offsets.push_back(0);
  for (const int64_t index : indices) {
    const TextGroup& group = example_at(groups_, index);
    for (size_t text = 0; text < group.ids.size(); ++text) {
      if (!group.scored.empty())
        append_scored(group.scored[text], batch.source_offsets.back(), all);
      append_sequence(group.ids[text], batch.source, batch.source_offsets);
    }
    all.attended.insert(all.attended.end(), group.attended.begin(), group.attended.end());
    all.texts.insert(all.texts.end(), group.hashes.begin(), group.hashes.end());
    all.offsets.push_back(static_cast<int32_t>(all.texts.size()));
    all.unpooled.insert(all.unpooled.end(), group.unpooled.begin(), group.unpooled.end());
    all.scores.insert(all.scores.end(), group.scores.begin(), group.scores.end());
    all.score_count = std::ssize(group.scores);
  }
  return batch;
}

}  // namespace heed::data
