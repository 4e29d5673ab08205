#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heed/generate/token_logits.h"
#include "heed/model/config.h"

namespace heed::generate {

/// A number added to the logit of the last of `tokens` where the others precede it.
struct SequenceBias {
  std::vector<int32_t> tokens;  // not empty
  float bias = 0;               // minus infinity forbids the sequence
};

/// The end of an output becomes more likely with each token after the first `start`.
struct LengthDecay {
  int64_t start = 0;
  double factor = 1;
};

/// What generation_config.json says about the tokens of an output, by its names. The rules are
/// those of the logits processors of `transformers`, applied in the same order. They are a pure
/// function of the tokens so far.
struct TokenRules {
  std::vector<int32_t> eos_ids = {};  // tokens that end an output
  std::vector<SequenceBias> sequence_bias = {};
  float encoder_repetition_penalty = 1;      // multiplies what the source does not have; 1: off
  float repetition_penalty = 1;              // of a search; outputs have that of SamplingOptions
  int64_t no_repeat_ngram_size = 0;          // no such n-gram occurs twice; 0: off
  int64_t encoder_no_repeat_ngram_size = 0;  // no such n-gram of the source occurs
  std::vector<SequenceBias> bad_words = {};  // "bad_words_ids"
  int64_t min_length = 0;                    // tokens before the end, those of the prompt included
  int64_t min_new_tokens = 0;                // the same without them
  int32_t decoder_start_id = -1;             // of an encoder-decoder; -1: that of config.json
  /// The token after a prompt of one token, as that of an encoder-decoder is, which only has the
  /// start token; -1: any.
  int32_t forced_bos_id = -1;
  std::vector<int32_t> forced_eos_ids = {};      // one of them is the last token that has room
  std::optional<LengthDecay> length_decay = {};  // "exponential_decay_length_penalty"
  std::vector<int32_t> suppress_tokens = {};
  std::vector<int32_t> begin_suppress_tokens = {};  // not the first of an output
  bool renormalize_logits = false;  // probabilities sum to 1 after the rules; matters to beams

  /// The first input of an encoder-decoder's decoder.
  int32_t start_id(const model::ModelConfig& config) const {
    return decoder_start_id >= 0 ? decoder_start_id : config.decoder_start_id;
  }
  bool is_end(int32_t token) const;
  /// Whether a rule multiplies logits, so that it matters whether they are normalised.
  bool scales() const {
    return repetition_penalty != 1 || encoder_repetition_penalty != 1 || length_decay.has_value();
  }
};

/// The tokens that the next one follows.
struct TokensSoFar {
  std::span<const int32_t> source;  // of the encoder; empty for a decoder-only model
  std::span<const int32_t> prompt;  // the first input of the decoder
  std::span<const int32_t> output;
  int64_t max_new_tokens = 0;  // of the output

  size_t size() const { return prompt.size() + output.size(); }
  int32_t operator[](size_t i) const {
    return i < prompt.size() ? prompt[i] : output[i - prompt.size()];
  }
  /// Tokens that `transformers` counts as generated: with an encoder all but the start token.
  int64_t new_tokens() const {
    return static_cast<int64_t>(size() - (source.empty() ? prompt.size() : 1));
  }
  /// Whether the next token is the last that has room.
  bool is_last() const { return static_cast<int64_t>(output.size()) + 1 >= max_new_tokens; }
};

/// Whether the next token can only be one of forced_eos_ids.
bool forces_end(const TokenRules& rules, const TokensSoFar& tokens);

/// Whether the rules raise no logit of the next token.
bool only_lower_logits(const TokenRules& rules, const TokensSoFar& tokens);

/// Applies the rules before repetition_penalty to `logits`: sequence_bias and
/// encoder_repetition_penalty.
void bias_logits(const TokenRules& rules, const TokensSoFar& tokens, const TokenLogits& logits);
/// Applies the rules after repetition_penalty; forbidden tokens get a logit of -inf.
void restrict_logits(const TokenRules& rules, const TokensSoFar& tokens, const TokenLogits& logits);
/// Applies all.
void apply_rules(const TokenRules& rules, const TokensSoFar& tokens, const TokenLogits& logits);

}  // namespace heed::generate
