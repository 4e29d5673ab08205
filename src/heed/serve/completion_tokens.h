#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/model.h"
#include "heed/serve/fields/json_fields.h"
#include "heed/serve/prompts.h"

namespace heed::serve {

/// The tokens of an echoed prompt.
struct EchoedTokens {
  std::vector<int32_t> tokens;
  std::vector<int64_t> offsets;    // of each token in the text, in characters
  int64_t characters = 0;          // of the text
  std::vector<TokenScore> scores;  // of all tokens but the first
};

/// The tokens of a prompt with their offsets in `text`, which is the prompt as it is echoed;
/// without scores.
EchoedTokens echoed_tokens(const Model& model, const TokenizedText& prompt,
                           const std::string& text);

/// The log-probabilities of a text completion in OpenAI's form: lists with an element for each
/// token.
class CompletionTokens {
 public:
  /// The model must outlive this. With `skip_special`, special tokens are not part of the text.
  CompletionTokens(const Model& model, bool skip_special)
      : model_(model), skip_special_(skip_special) {
    if (model.has_tokenizer()) tokenizer_ = model.tokenizer();
  }

  /// The first token of a text has no log-probability.
  void add(const EchoedTokens& prompt);
  void add(const TokenLogProbability& chosen, std::span<const TokenLogProbability> best);
  /// The lists of what was added since the last call; null if nothing was.
  Json take();

 private:
  void add(const TokenLogProbability& chosen, std::span<const TokenLogProbability> best,
           int64_t offset);
  void add_token(int32_t token, Json log_probability, Json best, int64_t offset);

  const Model& model_;
  std::optional<Tokenizer> tokenizer_;
  const bool skip_special_;
  Json lists_;
  int64_t characters_ = 0;  // that have begun
};

}  // namespace heed::serve
