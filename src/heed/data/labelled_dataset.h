#pragma once

#include "heed/data/dataset.h"

namespace heed::data {

/// The tokens of a text, or of a pair of texts, and what is known of it; or of several pairs, which
/// are compared with each other.
struct LabelledText {
  std::vector<int32_t> ids;           // [T], with special tokens
  std::vector<int32_t> types = {};    // [T]; empty: all 0
  std::vector<int32_t> classes = {};  // its class, or those of its tokens; see Labels
  std::vector<float> values = {};     // [C]
  std::vector<int32_t> rows = {};     // the tokens that have a class; empty: the text has
  std::vector<int32_t> ends = {};     // in `ids`, of each of several pairs; empty: there is one
};

/// Texts with labels. A batch holds their tokens as its sources.
class LabelledDataset : public Dataset {
 public:
  /// `labels` gives the loss, the number of labels and the weights of the batches; the classes or
  /// values of the texts are those that the loss compares.
  LabelledDataset(std::vector<LabelledText> texts, Labels labels)
      : texts_(std::move(texts)), labels_(std::move(labels)) {}

  int64_t count() const override { return static_cast<int64_t>(texts_.size()); }
  Lengths lengths_at(int64_t index) const override;
  Batch batch(std::span<const int64_t> indices, int64_t epoch) const override;

 private:
  std::vector<LabelledText> texts_;
  Labels labels_;
};

}  // namespace heed::data
