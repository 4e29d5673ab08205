#pragma once

#include "heed/data/dataset.h"

namespace heed::data {

/// Sentence pairs: the encoder reads the source, the decoder predicts the target. The same in every
/// epoch.
class PairDataset : public Dataset {
 public:
  /// `start_id` is the decoder's first input token.
  PairDataset(std::vector<Example> pairs, int32_t start_id)
      : pairs_(std::move(pairs)), start_id_(start_id) {}

  int64_t count() const override { return static_cast<int64_t>(pairs_.size()); }
  Lengths lengths_at(int64_t index) const override { return lengths_of(example_at(pairs_, index)); }
  Batch batch(std::span<const int64_t> indices, int64_t) const override {
    return make_batch(pairs_, indices, start_id_);
  }

 private:
  std::vector<Example> pairs_;
  int32_t start_id_;
};

}  // namespace heed::data
