#include "heed/data/labelled_dataset.h"

namespace heed::data {
namespace {

void append_texts(const LabelledText& text, Batch& batch) {
  if (text.ends.empty()) return append_sequence(text.ids, batch.source, batch.source_offsets);
  size_t begin = 0;
  for (const int32_t end : text.ends) {
    const size_t count = static_cast<size_t>(end) - begin;
    append_sequence(std::span(text.ids).subspan(begin, count), batch.source, batch.source_offsets);
    begin += count;
  }
}

}  // namespace

Lengths LabelledDataset::lengths_at(int64_t index) const {
  return {.source = static_cast<int32_t>(example_at(texts_, index).ids.size())};
}

Batch LabelledDataset::batch(std::span<const int64_t> indices, int64_t) const {
  Batch batch;
  batch.source_offsets.push_back(0);
  batch.examples.assign(indices.begin(), indices.end());
  Labels& labels = batch.labels = labels_;
  if (labels.loss == LabelLoss::margin_mse) labels.offsets.push_back(0);
  for (const int64_t index : indices) {
    const LabelledText& text = example_at(texts_, index);
    const int32_t first = batch.source_offsets.back();
    for (const int32_t row : text.rows) labels.rows.push_back(first + row);
    labels.classes.insert(labels.classes.end(), text.classes.begin(), text.classes.end());
    labels.values.insert(labels.values.end(), text.values.begin(), text.values.end());
    append_texts(text, batch);
    if (labels.loss == LabelLoss::margin_mse)
      labels.offsets.push_back(static_cast<int32_t>(batch.sources()));
    // A tokenizer gives all texts types, or none.
    batch.types.insert(batch.types.end(), text.types.begin(), text.types.end());
  }
  return batch;
}

}  // namespace heed::data
