#include "heed/data/text_group_dataset.h"

namespace heed::data {

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
    for (const std::vector<int32_t>& text : group.ids)
      append_sequence(text, batch.source, batch.source_offsets);
    all.texts.insert(all.texts.end(), group.hashes.begin(), group.hashes.end());
    all.offsets.push_back(static_cast<int32_t>(all.texts.size()));
    all.unpooled.insert(all.unpooled.end(), group.unpooled.begin(), group.unpooled.end());
    all.scores.insert(all.scores.end(), group.scores.begin(), group.scores.end());
    all.score_count = std::ssize(group.scores);
  }
  return batch;
}

}  // namespace heed::data
