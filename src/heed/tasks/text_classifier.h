#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "heed/classification.h"
#include "heed/model/transformer.h"
#include "heed/tasks/logit_score.h"
#include "heed/tasks/text_settings.h"
#include "heed/tasks/text_tokens.h"
#include "heed/text/tokenizer.h"

namespace heed::tasks {

/// Throws Error unless the model has a classifier of this kind; `purpose` names what needs it.
void require_classifier(const model::Transformer& model, model::ClassifierConfig::Kind kind,
                        std::string_view purpose);

/// Scores of the labels of texts, or of their tokens. Each thread computes whole batches; all
/// threads share a single batch.
class TextClassifier {
 public:
  /// `settings` are those of the model's files, `dtype` that of the activations. The model must
  /// outlive this. Throws Error when max_seq_length exceeds the context length.
  TextClassifier(const model::Transformer& model, text::Tokenizer tokenizer,
                 const TextSettings& settings, const ClassifyOptions& options,
                 DType dtype = DType::f32);

  /// The logits of each text's labels, in order: [labels]. Throws Error when a text has no tokens
  /// at all, naming the first such text (counted from `first_number`), and when logits are not
  /// finite.
  std::vector<std::vector<float>> logits(std::span<const ClassifyInput> texts,
                                         int64_t first_number) const;
  /// The logits of the labels of each of its tokens: [T * labels].
  std::vector<std::vector<float>> token_logits(std::span<const TextTokens> texts) const;

  /// The tokens of a text, truncated to max_seq_length or the limit of the settings. Throws Error
  /// when there are none.
  TextTokens tokens(std::string_view text) const;
  /// The number of tokens of a text or a pair before they are truncated.
  int64_t count_tokens(const ClassifyInput& text) const;
  /// The largest number that is read; 0: not limited.
  int64_t max_tokens() const { return limit_.most; }

 private:
  std::string cased(const std::string& text) const;
  text::TypedIds read(const ClassifyInput& text) const;
  std::vector<std::vector<float>> run(std::span<const text::TypedIds> texts) const;

  const model::Transformer& model_;
  text::Tokenizer tokenizer_;
  ClassifyOptions options_;
  DType dtype_;
  TokenLimit limit_;
  bool lower_case_;
};

/// The scores of a text's labels, in their order; see LabelScore.
std::vector<double> label_scores(const model::ClassifierConfig& classifier,
                                 std::span<const float> logits);

/// The settings of config_sentence_transformers.json for the scores of pairs, as CrossEncoder reads
/// them.
struct PairSettings {
  std::optional<bool> sigmoid = {};            // whether a score is the sigmoid of its logit
  std::string prompt = {};                     // before the first text of a pair
  std::optional<LogitScore> logit_score = {};  // of a language model that answers yes or no
  std::vector<std::string> warnings = {};
};
/// Throws Error as read_prompt_settings() and read_logit_score() do, and on an activation other
/// than the sigmoid and the identity.
PairSettings read_pair_settings(const std::filesystem::path& model_path, int64_t vocab_size);

/// Groups of neighbouring tokens [begin, end) with the same label, without those that have the
/// label "O": `transformers`' aggregation strategy "simple". Logits are [T * labels], and `tokens`
/// are those of `text`.
std::vector<Entity> entities_of(const model::ClassifierConfig& classifier, std::string_view text,
                                const TextTokens& tokens, std::span<const float> logits,
                                const text::Tokenizer& tokenizer);

}  // namespace heed::tasks
