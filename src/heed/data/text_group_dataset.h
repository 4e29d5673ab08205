#pragma once

#include "heed/data/dataset.h"

namespace heed::data {

/// The tokens of the texts that are compared with each other, and what is known of them.
struct TextGroup {
  std::vector<std::vector<int32_t>> ids;  // of each text, with special tokens
  std::vector<uint64_t> hashes;           // of each text
  std::vector<int32_t> unpooled = {};     // the first tokens of each that are not pooled; empty: 0
  std::vector<float> scores = {};         // see TextGroups
  /// Of texts with several vectors: of each the first tokens that are attended to, and the places
  /// of those that have a vector.
  std::vector<int32_t> attended = {};
  std::vector<std::vector<int32_t>> scored = {};
};

/// Groups of texts. A batch holds their tokens as its sources.
class TextGroupDataset : public Dataset {
 public:
  /// All groups have equally many scores.
  TextGroupDataset(std::vector<TextGroup> groups, VectorLossOptions options)
      : groups_(std::move(groups)), options_(std::move(options)) {}

  int64_t count() const override { return static_cast<int64_t>(groups_.size()); }
  Lengths lengths_at(int64_t index) const override;
  Batch batch(std::span<const int64_t> indices, int64_t epoch) const override;

 private:
  std::vector<TextGroup> groups_;
  VectorLossOptions options_;
};

}  // namespace heed::data
