#pragma once

#include <filesystem>

#include "heed/train/tasks/task.h"
#include "heed/train/tasks/token_text.h"

namespace heed::train {

/// Predicting masked tokens of documents, for encoder-only models. Each epoch masks other tokens;
/// validation always masks the same.
class MaskedTask : public Task {
 public:
  MaskedTask(const TrainConfig& config, const std::filesystem::path& start, Observer& observer);

  std::vector<checkpoint::NamedFile> files() const override { return named_.files; }
  std::string piece(int32_t token) const override { return piece_of(named_.tokenizer, token); }
  SampleNames sample_names() const override { return {"masked", "reference", "filled"}; }
  /// Predicts the masked tokens of a few validation windows.
  void evaluate(const model::Transformer& model, Compute compute, distribute::Group& group,
                ValidationRecord& record) const override;

 private:
  MaskedTask(const TrainConfig& config, const std::filesystem::path& start, const RawText& text,
             Observer& observer);

  int64_t samples_;
  TokenizerWithFiles named_;
};

}  // namespace heed::train
