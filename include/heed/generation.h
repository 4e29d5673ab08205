#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "heed/answer_format.h"

namespace heed {

/// What a model is to continue, or what its encoder reads: a text, or token ids. Special tokens
/// that the tokenizer puts around a text are added to texts only.
using Prompt = std::variant<std::string, std::vector<int32_t>>;

/// A number added to the logit of a token; minus infinity forbids the token.
struct TokenBias {
  int32_t token = 0;  // a token id
  float bias = 0;     // added to its logit

  bool operator==(const TokenBias&) const = default;
};

/// Which white space stands between the tokens of a JSON text.
enum class JsonWhiteSpace {
  free,     // any, at most 64 characters at each place
  compact,  // none: {"a":1,"b":2}
  spaced    // one space behind "," and ":", as Python's json.dumps() writes
};

/// "free", "compact" or "spaced".
constexpr std::string_view name_of(JsonWhiteSpace white_space) {
  switch (white_space) {
    case JsonWhiteSpace::free:
      return "free";
    case JsonWhiteSpace::compact:
      return "compact";
    case JsonWhiteSpace::spaced:
      return "spaced";
  }
  return "?";
}

/// What the text of an output must match: at most one of json_schema, regex, gbnf, lark and choice
/// is set. An output ends where nothing can follow (docs/constrained.md).
struct StructuredOutput {
  std::string json_schema = {};                            // a JSON Schema, draft 4 to 2020-12
  JsonWhiteSpace json_white_space = JsonWhiteSpace::free;  // with json_schema
  std::string regex = {};                                  // of ECMA-262; it matches the whole text
  std::string gbnf = {};                                   // a grammar as llama.cpp has it
  std::string lark = {};                                   // a grammar of the Python package Lark
  std::vector<std::string> choice = {};                    // one of these
  /// Completes an output within max_new_tokens: by the shortest text that is valid, once another
  /// token would leave no room for it.
  bool complete = false;
  /// Log-probabilities are those of the model over all tokens; otherwise over those that may
  /// follow.
  bool free_log_probabilities = false;
  /// The answer of a chat, of whose content this is what it must match; answer_options() sets it.
  std::optional<AnswerFormat> answer = {};

  bool operator==(const StructuredOutput&) const = default;
};

/// How outputs are generated. Decoding is greedy unless `sample` or one of temperature, top_k,
/// top_p and min_p is set. What is not set comes from the model's generation_config.json; without
/// such a file, or without the value there, the default in brackets holds. That file's rules for
/// tokens (no_repeat_ngram_size, suppress_tokens, ...; docs/models.md) hold for every request. The
/// settings of sampling are applied in their order here.
struct GenerateOptions {
  std::optional<int64_t> max_new_tokens = {};  // of each output; at least 1 [256]
  /// Before the output has as many tokens, none that ends it is chosen; stop strings end it [0].
  std::optional<int64_t> min_new_tokens = {};
  /// Divides positive logits and multiplies negative logits of tokens in the prompt or the output
  /// (Keskar et al. 2019); 1: off [1].
  std::optional<float> repetition_penalty = {};
  float presence_penalty = 0;              // subtracted from the logits of tokens in the output
  float frequency_penalty = 0;             // subtracted once per occurrence in the output
  std::vector<TokenBias> logit_bias = {};  // added before sampling
  bool sample = false;                     // with the settings of sampling that follow
  std::optional<float> temperature = {};   // logits are divided by it; 0: greedy [1]
  std::optional<int64_t> top_k = {};       // from the k most probable tokens; 0: all [0]
  /// From the smallest set of tokens with this probability (Holtzman et al. 2020) [1].
  std::optional<float> top_p = {};
  /// Excludes tokens below min_p times the most probable one (Nguyen et al. 2024) [0].
  std::optional<float> min_p = {};
  uint64_t seed = 1;                        // of random numbers
  std::vector<std::string> stop = {};       // strings that end an output; not part of its text
  std::vector<int32_t> end_tokens = {};     // end an output, besides those of the model
  StructuredOutput structured_output = {};  // what an output must match [nothing]
  bool skip_special_tokens = true;          // in the text of an output
  /// Reports the log-probability of each token and of this many most probable tokens; -1: none.
  int top_log_probabilities = -1;
  /// Largest number of tokens, prompts and outputs, of a batch. Does not change results.
  int64_t batch_tokens = 16384;

  bool operator==(const GenerateOptions&) const = default;
};

/// A token and its log-probability (natural) under the model, before penalties, biases and
/// temperature.
struct TokenLogProbability {
  int32_t token = 0;           // a token id
  double log_probability = 0;  // at most 0
  /// Of free_log_probabilities: why a constraint forbids the token here; empty if it does not.
  std::string forbidden = {};
};

/// Why an output ended.
enum class FinishReason {
  stop,   // an end token or a stop string
  length  // max_new_tokens, or the model's context is full
};

/// "stop" or "length".
constexpr std::string_view name_of(FinishReason reason) {
  return reason == FinishReason::stop ? "stop" : "length";
}

/// The output that follows one prompt.
struct Generation {
  std::vector<int32_t> tokens;                        // without the end token
  std::string text;                                   // empty without a tokenizer
  FinishReason finish_reason = FinishReason::length;  // why it ended
  std::optional<std::string>
      stop_string;  // the one that ended it; none: an end token or the length
  /// With LoadOptions::speculation: tokens that were drafted, and those of them that were right.
  /// They depend on how fast the machine was.
  int64_t drafted_tokens = 0, accepted_tokens = 0;
  // Only with GenerateOptions::top_log_probabilities:
  std::vector<TokenLogProbability> chosen;             // of each of `tokens`
  std::vector<std::vector<TokenLogProbability>> best;  // most probable first
  /// The end token that ended it, if one did.
  std::optional<TokenLogProbability> end_token = {};
  /// The most probable tokens in the place of `end_token`.
  std::vector<TokenLogProbability> best_at_end = {};
};

}  // namespace heed
