#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/model/config.h"
#include "heed/tasks/embedder_options.h"
#include "heed/tasks/text_tokens.h"
#include "heed/text/tokenizer.h"

namespace heed::tasks {

/// What a model reads of a text at once.
struct TextWindow {
  std::vector<int32_t> ids;    // the prompt and tokens of the text, with special tokens
  int64_t tokens = 0;          // of the text
  int64_t start = 0, end = 0;  // the part of the text, in characters
};

/// Turns texts into the tokens that a model embeds: with the prompt before each, in lower case if
/// the files say so, truncated or in windows.
class TextReader {
 public:
  /// Throws Error when max_seq_length or window exceed the model's context length, and when a
  /// window has no room for a text.
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
  /// The windows of each text, at least one. Throws Error likewise.
  std::vector<std::vector<TextWindow>> read_windows(const std::vector<std::string>& texts,
                                                    int64_t first_number) const;
  /// The tokens of the prompt alone, without a special token at the end, which would follow the
  /// text.
  int64_t count_prompt_tokens() const;
  /// max_seq_length, or the model's context length; 0: not limited, or in windows.
  int64_t max_tokens() const { return limit_.most; }
  const text::Tokenizer& tokenizer() const { return tokenizer_; }

 private:
  std::string whole_text(const std::string& text) const;
  std::vector<TextWindow> windows(const std::string& text) const;
  /// The tokens of a text in a window of which others take `taken`.
  int64_t room(int64_t taken) const;

  text::Tokenizer tokenizer_;
  std::string prompt_;
  int32_t prefix_ = -1;  // a token before the prompt, at the place `leading_`; -1: none
  int64_t leading_ = 0;  // special tokens before a text
  bool lower_case_;
  TokenLimit limit_;
  int64_t window_, overlap_;
};

}  // namespace heed::tasks
