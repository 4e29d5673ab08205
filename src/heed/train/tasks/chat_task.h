#pragma once

#include <filesystem>

#include "heed/data/conversation_dataset.h"
#include "heed/train/tasks/task.h"
#include "heed/train/tasks/vocabulary.h"

namespace heed::train {

/// Conversations of a decoder-only model with a chat template. The text is JSON lines, each a list
/// of messages or an object with "messages" and perhaps "tools". Only what assistants wrote is
/// predicted, and the tokens that end it.
class ChatTask : public Task {
 public:
  /// Throws Error when the model has no chat template and, naming the line, on one that is not a
  /// conversation, has no answer, or that the template refuses. Conversations longer than a window
  /// are left out.
  ChatTask(const TrainConfig& config, const std::filesystem::path& start, Observer& observer);

  std::vector<checkpoint::NamedFile> files() const override { return named_.files; }
  std::string piece(int32_t token) const override { return piece_of(named_.tokenizer, token); }
  SampleNames sample_names() const override { return {"conversation", "reference", "answer"}; }
  /// Samples the last answers of a few validation conversations.
  void evaluate(const model::Transformer& model, Compute compute, distribute::Group& group,
                ValidationRecord& record) const override;

 private:
  uint64_t seed_;
  TokenizerWithFiles named_;
  std::vector<data::Conversation> samples_;
};

}  // namespace heed::train
