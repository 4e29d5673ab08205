#include "heed/generate/token_rules.h"

#include <algorithm>
#include <cmath>

#include "heed/generate/sampling.h"

namespace heed::generate {
namespace {

void forbid(std::span<const int32_t> tokens, const TokenLogits& logits) {
  for (const int32_t token : tokens)
    if (float* const logit = logits.find(token)) *logit = kForbiddenLogit;
}

/// Only these tokens remain, with equal probabilities.
void force(std::span<const int32_t> tokens, const TokenLogits& logits) {
  logits.forbid_all();
  for (const int32_t token : tokens)
    if (float* const logit = logits.find(token)) *logit = 0;
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
                const TokenLogits& logits) {
  std::vector<std::pair<int32_t, float>> sums;
  for (const auto& [sequence, bias] : biases) {
    if (!ends_with(tokens, std::span(sequence).first(sequence.size() - 1))) continue;
    const int32_t token = sequence.back();
    const auto found = std::ranges::find(sums, token, &std::pair<int32_t, float>::first);
    if (found == sums.end())
      sums.emplace_back(token, bias);
    else
      found->second += bias;
  }
  for (const auto& [token, bias] : sums)
    if (float* const logit = logits.find(token)) *logit = std::min(*logit + bias, kMaxLogit);
}

/// Applies the inverse of a repetition penalty once to each token of the source.
void apply_encoder_repetition_penalty(float penalty, const TokensSoFar& tokens,
                                      const TokenLogits& logits) {
  const std::span<const int32_t> source = tokens.source.empty() ? tokens.prompt : tokens.source;
  std::vector<int32_t> unique(source.begin(), source.end());
  std::ranges::sort(unique);
  const auto rest = std::ranges::unique(unique);
  unique.erase(rest.begin(), rest.end());
  const auto inverse = static_cast<float>(1.0 / static_cast<double>(penalty));
  for (const int32_t token : unique) {
    float* const logit = logits.find(token);
    if (logit) *logit = *logit < 0 ? *logit * inverse : *logit / inverse;
  }
}

/// Forbids each token that would complete an n-gram of `text` again: `text[i]` after the last
/// n - 1 tokens.
template <typename Text>
void forbid_ngrams(int64_t n, const Text& text, const TokensSoFar& tokens,
                   const TokenLogits& logits) {
  const auto before = static_cast<size_t>(n - 1);
  if (tokens.size() < before) return;
  const size_t end = tokens.size() - before;  // where the last n - 1 tokens begin
  for (size_t i = before; i < text.size(); ++i) {
    size_t same = 0;
    while (same < before && text[i - before + same] == tokens[end + same]) ++same;
    float* const logit = same == before ? logits.find(text[i]) : nullptr;
    if (logit) *logit = kForbiddenLogit;
  }
}

void apply_length_decay(const LengthDecay& decay, const TokenRules& rules,
                        const TokensSoFar& tokens, const TokenLogits& logits) {
  const int64_t beyond = tokens.new_tokens() - decay.start;
  if (beyond <= 0) return;
  const double power = std::pow(decay.factor, static_cast<double>(beyond));
  const auto growth = static_cast<float>(std::min(power - 1, double{kMaxLogit}));
  for (const int32_t token : rules.eos_ids) {
    float* const logit = logits.find(token);
    if (logit && std::isfinite(*logit))
      *logit = std::min(*logit + std::abs(*logit) * growth, kMaxLogit);
  }
}

}  // namespace

bool TokenRules::is_end(int32_t token) const {
  return std::ranges::find(eos_ids, token) != eos_ids.end();
}

bool forces_end(const TokenRules& rules, const TokensSoFar& tokens) {
  return !rules.forced_eos_ids.empty() && tokens.is_last();
}

bool only_lower_logits(const TokenRules& rules, const TokensSoFar& tokens) {
  const bool forces = (rules.forced_bos_id >= 0 && tokens.size() == 1) || forces_end(rules, tokens);
  return !forces && !rules.length_decay && rules.repetition_penalty >= 1 &&
         rules.encoder_repetition_penalty == 1 &&
         std::ranges::all_of(rules.sequence_bias, [](const auto& one) { return one.bias <= 0; });
}

void bias_logits(const TokenRules& rules, const TokensSoFar& tokens, const TokenLogits& logits) {
  add_biases(rules.sequence_bias, tokens, logits);
  if (rules.encoder_repetition_penalty != 1)
    apply_encoder_repetition_penalty(rules.encoder_repetition_penalty, tokens, logits);
}

void restrict_logits(const TokenRules& rules, const TokensSoFar& tokens,
                     const TokenLogits& logits) {
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

void apply_rules(const TokenRules& rules, const TokensSoFar& tokens, const TokenLogits& logits) {
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
