#pragma once

#include "heed/data/dataset.h"

namespace heed::data {

/// The tokens of a conversation, and which of them an assistant wrote.
struct Conversation {
  std::vector<int32_t> tokens;
  std::vector<bool> assistant;  // for each token
};

/// Conversations, of which the tokens of assistants are predicted.
class ConversationDataset : public Dataset {
 public:
  /// Each has at least two tokens.
  explicit ConversationDataset(std::vector<Conversation> conversations)
      : conversations_(std::move(conversations)) {}

  int64_t count() const override { return static_cast<int64_t>(conversations_.size()); }
  Lengths lengths_at(int64_t index) const override;
  Batch batch(std::span<const int64_t> indices, int64_t epoch) const override;

 private:
  std::vector<Conversation> conversations_;
};

}  // namespace heed::data
