#include "heed/generate/token_rules.h"

#include <algorithm>
#include <cmath>

#include "heed/generate/sampling.h"

namespace heed::generate {
namespace {

/// Ids outside the vocabulary never occur. The vocabulary of a draft model may be smaller.
bool is_known(int32_t token, std::span<const float> logits) {
  return token >= 0 && static_cast<size_t>(token) < logits.size();
}

void forbid(std::span<const int32_t> tokens, std::span<float> logits) {
  for (const int32_t token : tokens)
    if (is_known(token, logits)) logits[static_cast<size_t>(token)] = kForbiddenLogit;
}

/// Only these tokens remain, with equal probabilities.
void force(std::span<const int32_t> tokens, std::span<float> logits) {
  std::ranges::fill(logits, kForbiddenLogit);
  for (const int32_t token : tokens)
    if (is_known(token, logits)) logits[static_cast<size_t>(token)] = 0;
}

/// Whether the last tokens are `wanted`.
bool ends_with(const TokensSoFar& tokens, std::span<const int32_t> wanted) {
  if (wanted.size() > tokens.size()) return false;
  const size_t begin = tokens.size() - wanted.size();
  for (size_t i = 0; i < wanted.size(); ++i)
    if (tokens[begin + i] != wanted[i]) return false;
  return true;
}

/// Biases of the same token are summed before they are added.
void add_biases(std::span<const SequenceBias> biases, const TokensSoFar& tokens,
                std::span<float> logits) {
  std::vector<std::pair<size_t, float>> sums;
  for (const auto& [sequence, bias] : biases) {
    if (!is_known(sequence.back(), logits) ||
        !ends_with(tokens, std::span(sequence).first(sequence.size() - 1)))
      continue;
    const auto token = static_cast<size_t>(sequence.back());
    const auto found = std::ranges::find(sums, token, &std::pair<size_t, float>::first);
    if (found == sums.end())
      sums.emplace_back(token, bias);
    else
      found->second += bias;
  }
  for (const auto& [token, bias] : sums) logits[token] = std::min(logits[token] + bias, kMaxLogit);
}

/// Applies the inverse of a repetition penalty once to each token of the source.
void apply_encoder_repetition_penalty(float penalty, const TokensSoFar& tokens,
                                      std::span<float> logits) {
  const std::span<const int32_t> source = tokens.source.empty() ? tokens.prompt : tokens.source;
  std::vector<int32_t> unique(source.begin(), source.end());
  std::ranges::sort(unique);
  const auto rest = std::ranges::unique(unique);
  unique.erase(rest.begin(), rest.end());
  const auto inverse = static_cast<float>(1.0 / static_cast<double>(penalty));
  for (const int32_t token : unique) {
    if (!is_known(token, logits)) continue;
    float& logit = logits[static_cast<size_t>(token)];
    logit = logit < 0 ? logit * inverse : logit / inverse;
  }
}

/// Forbids each token that would complete an n-gram of `text` again: `text[i]` after the last
/// n - 1 tokens.
template <typename Text>
void forbid_ngrams(int64_t n, const Text& text, const TokensSoFar& tokens,
                   std::span<float> logits) {
  const auto before = static_cast<size_t>(n - 1);
  if (tokens.size() < before) return;
  const size_t end = tokens.size() - before;  // where the last n - 1 tokens begin
  for (size_t i = before; i < text.size(); ++i) {
    size_t same = 0;
    while (same < before && text[i - before + same] == tokens[end + same]) ++same;
    if (same == before && is_known(text[i], logits))
      logits[static_cast<size_t>(text[i])] = kForbiddenLogit;
  }
}

void apply_length_decay(const LengthDecay& decay, const TokenRules& rules,
                        const TokensSoFar& tokens, std::span<float> logits) {
  const int64_t beyond = tokens.new_tokens() - decay.start;
  if (beyond <= 0) return;
  const double power = std::pow(decay.factor, static_cast<double>(beyond));
  const auto growth = static_cast<float>(std::min(power - 1, double{kMaxLogit}));
  for (const int32_t token : rules.eos_ids) {
    if (!is_known(token, logits)) continue;
    float& logit = logits[static_cast<size_t>(token)];
    if (std::isfinite(logit)) logit = std::min(logit + std::abs(logit) * growth, kMaxLogit);
  }
}

}  // namespace

bool TokenRules::is_end(int32_t token) const {
  return std::ranges::find(eos_ids, token) != eos_ids.end();
}

bool forces_end(const TokenRules& rules, const TokensSoFar& tokens) {
  return !rules.forced_eos_ids.empty() && tokens.is_last();
}

void bias_logits(const TokenRules& rules, const TokensSoFar& tokens, std::span<float> logits) {
  add_biases(rules.sequence_bias, tokens, logits);
  if (rules.encoder_repetition_penalty != 1)
    apply_encoder_repetition_penalty(rules.encoder_repetition_penalty, tokens, logits);
}

void restrict_logits(const TokenRules& rules, const TokensSoFar& tokens, std::span<float> logits) {
  if (rules.no_repeat_ngram_size > 0)
    forbid_ngrams(rules.no_repeat_ngram_size, tokens, tokens, logits);
  if (rules.encoder_no_repeat_ngram_size > 0)
    forbid_ngrams(rules.encoder_no_repeat_ngram_size,
                  tokens.source.empty() ? tokens.prompt : tokens.source, tokens, logits);
  add_biases(rules.bad_words, tokens, logits);
  if (static_cast<int64_t>(tokens.size()) < rules.min_length ||
      tokens.new_tokens() < rules.min_new_tokens)
    forbid(rules.eos_ids, logits);
  if (rules.forced_bos_id >= 0 && tokens.size() == 1) force({&rules.forced_bos_id, 1}, logits);
  if (forces_end(rules, tokens)) force(rules.forced_eos_ids, logits);
  if (rules.length_decay) apply_length_decay(*rules.length_decay, rules, tokens, logits);
  forbid(rules.suppress_tokens, logits);
  // A forced first token comes before the beginning.
  const bool forced = rules.forced_bos_id >= 0 && tokens.prompt.size() == 1;
  if (tokens.output.size() == static_cast<size_t>(forced))
    forbid(rules.begin_suppress_tokens, logits);
}

void apply_rules(const TokenRules& rules, const TokensSoFar& tokens, std::span<float> logits) {
  bias_logits(rules, tokens, logits);
  if (rules.repetition_penalty != 1) {
    TokenCounts counts;
    counts.add_prompt(tokens.prompt);
    counts.add_prompt(tokens.output);
    adjust_logits({.repetition_penalty = rules.repetition_penalty}, counts, logits);
  }
  restrict_logits(rules, tokens, logits);
}

}  // namespace heed::generate
