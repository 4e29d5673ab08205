#pragma once

#include <filesystem>

#include "heed/train/tasks/task.h"
#include "heed/train/tasks/token_text.h"

namespace heed::train {

/// Predicting the next token of documents, for decoder-only models. The end-of-sequence token
/// follows each document. The beginning-of-sequence token, or else end-of-sequence, precedes it.
class CausalTask : public Task {
 public:
  CausalTask(const TrainConfig& config, const std::filesystem::path& start, Observer& observer);

  std::vector<checkpoint::NamedFile> files() const override { return named_.files; }
  std::string piece(int32_t token) const override { return piece_of(named_.tokenizer, token); }
  SampleNames sample_names() const override { return {"prompt", "reference", "continuation"}; }
  /// Samples continuations of prompts taken from a few validation windows.
  void evaluate(const model::Transformer& model, Compute compute, distribute::Group& group,
                ValidationRecord& record) const override;

 private:
  CausalTask(const TrainConfig& config, const std::filesystem::path& start, const RawText& text,
             Observer& observer);

  int64_t samples_;
  uint64_t seed_;
  TokenizerWithFiles named_;
};

}  // namespace heed::train
