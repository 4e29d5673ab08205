#pragma once

#include <filesystem>

#include "heed/train/tasks/task.h"
#include "heed/train/tasks/token_text.h"

namespace heed::train {

/// To predict the next token of documents: a decoder alone. Documents end with end of sequence and
/// begin behind the start token, which is end of sequence where the vocabulary has no other.
class CausalTask : public Task {
 public:
  CausalTask(const TrainConfig& config, const std::filesystem::path& start, const Log& log);

  std::vector<checkpoint::NamedFile> files() const override { return named_.files; }
  std::string piece(int32_t token) const override { return piece_of(named_.tokenizer, token); }
  SampleNames sample_names() const override { return {"prompt", "reference", "continuation"}; }
  /// Goes on with the beginnings of a few validation windows.
  void evaluate(const model::Transformer& model, Compute compute,
                ValidationRecord& record) const override;

 private:
  CausalTask(const TrainConfig& config, const std::filesystem::path& start, const RawText& text,
             const Log& log);

  int64_t samples_;
  uint64_t seed_;
  TokenizerWithFiles named_;
};

}  // namespace heed::train
