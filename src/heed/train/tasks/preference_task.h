#pragma once

#include <filesystem>

#include "heed/data/preference_dataset.h"
#include "heed/train/tasks/task.h"
#include "heed/train/tasks/vocabulary.h"

namespace heed::train {

/// Preferring one answer to another (preference_loss.h), for adapters of decoder-only models. The
/// text is JSON lines with the strings "prompt", "chosen" and "rejected"; the end-of-sequence token
/// follows each answer.
class PreferenceTask : public Task {
 public:
  /// Throws Error, naming the line, on one that is not such an object. Examples longer than a
  /// window are left out.
  PreferenceTask(const TrainConfig& config, const std::filesystem::path& start, Observer& observer);

  std::vector<checkpoint::NamedFile> files() const override { return named_.files; }
  std::string piece(int32_t token) const override { return piece_of(named_.tokenizer, token); }
  SampleNames sample_names() const override { return {"prompt", "chosen", "answer"}; }
  /// Samples answers to a few validation prompts.
  void evaluate(const model::Transformer& model, Compute compute, distribute::Group& group,
                ValidationRecord& record) const override;

 private:
  data::Preference read(const std::string& line, const std::string& where) const;

  uint64_t seed_;
  TokenizerWithFiles named_;
  std::vector<data::Preference> samples_;
};

}  // namespace heed::train
