#pragma once

#include <filesystem>
#include <optional>

#include "heed/text/model_tokenizer.h"
#include "heed/train/tasks/pair_encoder.h"
#include "heed/train/tasks/task.h"
#include "heed/train/tasks/training_pairs.h"

namespace heed::train {

/// Predicting the target of parallel text from its source, for encoder-decoders. Evaluated by BLEU
/// and chrF: the first `validation.sentences` are translated; of several corpora also one by one.
/// The confidence of a translator is calibrated with these translations.
class PairsTask : public Task {
 public:
  /// As prepare_task(). Also throws Error when source and target differ in their number of lines.
  PairsTask(const TrainConfig& config, const std::filesystem::path& start,
            const std::filesystem::path& scratch, Observer& observer);

  std::vector<checkpoint::NamedFile> files() const override { return files_; }
  std::string piece(int32_t token) const override { return tokenizer_->piece(token); }
  std::string filter_report() const override { return filter_report_; }
  SampleNames sample_names() const override { return {"source", "reference", "translation"}; }
  void evaluate(const model::Transformer& model, Compute compute, distribute::Group& group,
                ValidationRecord& record) const override;
  std::vector<checkpoint::NamedFile> evaluated_files() const override { return evaluated_files_; }
  const text::TranslationTokenizer* translation_tokenizer() const override;

 private:
  /// The validation translations, and what each tells of confidence (validated_confidence.h).
  struct Translations {
    std::vector<std::string> texts, confidences;
  };
  int64_t store_training(const TrainConfig& config, const TrainingPairs& pairs,
                         const std::filesystem::path& scratch, Observer& observer);
  void read_validation(const TrainConfig& config, std::vector<CorpusPair> held_out);
  Translations translate(const model::Transformer& model, Compute compute, size_t count,
                         distribute::Group& group) const;
  void translate(const model::Transformer& model, Compute compute,
                 const std::vector<int64_t>& indices, Translations& translations) const;
  std::vector<DirectionScores> scores_of_directions(
      const std::vector<std::string>& translations) const;

  ValidationConfig validation_;
  std::string filter_report_;
  std::optional<text::ModelTokenizer> tokenizer_;
  std::vector<checkpoint::NamedFile> files_;  // of the tokenizer
  // The pairs for validation, by the same numbers, and what has encoded those of each corpus.
  std::vector<data::Example> valid_tokens_;
  std::vector<CorpusPair> valid_text_;
  std::vector<PairEncoder> valid_encoders_;
  mutable std::vector<checkpoint::NamedFile> evaluated_files_;
};

}  // namespace heed::train
