#pragma once

#include "heed/data/dataset.h"

namespace heed::data {

/// The tokens of a prompt, which begins with the start token, and of two answers to it.
struct Preference {
  std::vector<int32_t> prompt, chosen, rejected;
};

/// Pairs of answers of which one is preferred. A batch holds two sequences for each example, the
/// chosen and then the rejected answer, each after the prompt; the answers' tokens are predicted.
class PreferenceDataset : public Dataset {
 public:
  /// Prompts and answers have at least one token.
  PreferenceDataset(std::vector<Preference> examples, float beta)
      : examples_(std::move(examples)), beta_(beta) {}

  int64_t count() const override { return static_cast<int64_t>(examples_.size()); }
  Lengths lengths_at(int64_t index) const override;
  Batch batch(std::span<const int64_t> indices, int64_t epoch) const override;

 private:
  std::vector<Preference> examples_;
  float beta_;
};

}  // namespace heed::data
