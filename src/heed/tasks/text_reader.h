#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/tasks/embedder_options.h"
#include "heed/tasks/text_tokens.h"
#include "heed/text/tokenizer.h"

namespace heed::tasks {

/// Turns texts into the tokens that a model embeds: with the prompt before each, in lower case if
/// the files say so, truncated.
class TextReader {
 public:
  /// Throws Error when max_seq_length exceeds the model's context length.
  TextReader(const model::ModelConfig& model, text::Tokenizer tokenizer,
             const EmbedderOptions& options);

  /// Special tokens are truncated last.
  std::vector<int32_t> tokens(const std::string& text) const;
  /// How many there are before they are truncated.
  int64_t count_tokens(const std::string& text) const;
  /// The tokens of each text. Throws Error when a text has none, naming the first such text
  /// (counted from `first_number`).
  std::vector<std::vector<int32_t>> read(const std::vector<std::string>& texts,
                                         int64_t first_number) const;
  /// The tokens of the prompt alone, without a special token at the end, which would follow the
  /// text.
  int64_t count_prompt_tokens() const;
  /// max_seq_length, or the model's context length; 0: not limited.
  int64_t max_tokens() const { return limit_.most; }
  const text::Tokenizer& tokenizer() const { return tokenizer_; }

 private:
  std::string whole_text(const std::string& text) const;

  text::Tokenizer tokenizer_;
  std::string prompt_;
  int32_t prefix_ = -1;  // a token before the prompt, at the place `leading_`; -1: none
  int64_t leading_ = 0;  // special tokens before a text
  bool lower_case_;
  TokenLimit limit_;
};

}  // namespace heed::tasks
