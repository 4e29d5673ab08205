#pragma once

#include <filesystem>
#include <optional>

#include "heed/data/pair_dataset.h"
#include "heed/data/parallel_text.h"
#include "heed/text/model_tokenizer.h"
#include "heed/train/tasks/task.h"
#include "heed/train/tasks/vocabulary.h"
#include "heed/train/tasks/word_alignments.h"

namespace heed::train {

/// Predicting the target of parallel text from its source, for encoder-decoders. Evaluated by BLEU
/// and chrF: the first `validation.sentences` are translated. The confidence of a translator is
/// calibrated with these translations.
class PairsTask : public Task {
 public:
  /// As prepare_task(). Also throws Error when source and target differ in their number of lines.
  PairsTask(const TrainConfig& config, const std::filesystem::path& start, Observer& observer);

  std::vector<checkpoint::NamedFile> files() const override { return files_; }
  std::string piece(int32_t token) const override { return tokenizer_->piece(token); }
  SampleNames sample_names() const override { return {"source", "reference", "translation"}; }
  void evaluate(const model::Transformer& model, Compute compute, distribute::Group& group,
                ValidationRecord& record) const override;
  std::vector<checkpoint::NamedFile> evaluated_files() const override { return evaluated_files_; }
  const text::TranslationTokenizer* translation_tokenizer() const override;

 private:
  data::Example tokenize(const data::SentencePair& pair) const;
  /// The validation translations, and what each tells of confidence (validated_confidence.h).
  struct Translations {
    std::vector<std::string> texts, confidences;
  };
  Translations translate(const model::Transformer& model, Compute compute, size_t count,
                         distribute::Group& group) const;
  void translate(const model::Transformer& model, Compute compute,
                 const std::vector<int64_t>& indices, Translations& translations) const;

  ValidationConfig validation_;
  std::optional<text::ModelTokenizer> tokenizer_;
  std::vector<checkpoint::NamedFile> files_;  // of the tokenizer
  WordAlignments alignments_;
  std::vector<data::Example> valid_tokens_;
  std::vector<data::SentencePair> valid_text_;
  mutable std::vector<checkpoint::NamedFile> evaluated_files_;
};

}  // namespace heed::train
