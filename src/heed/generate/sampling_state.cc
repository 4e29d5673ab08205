#include "heed/generate/sampling_state.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/generate/logits.h"
#include "heed/kernels/top_k.h"

namespace heed::generate {
namespace {

/// Number of tokens at the end of the prompt that are decoded before the output, so that the text
/// of the output is the same as within the whole text.
constexpr size_t kContext = 8;

double log_sum_exp(std::span<const float> logits) {
  const double largest = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
  return largest + std::log(sum);
}

}  // namespace

SamplingState::SamplingState(const GeneratorOptions& options,
                             const std::optional<text::Tokenizer>& tokenizer,
                             const GeneratorInput& input, uint64_t number)
    : options_(options),
      tokenizer_(tokenizer),
      input_(input),
      number_(number),
      stop_(options.stop) {
  const std::span<const int32_t> prompt = input.prompt;
  counts_.add_prompt(prompt);
  if (options.constraint.constraint) constrained_.emplace(options.constraint);
  if (!tokenizer) return;
  decoded_.emplace(*tokenizer, options.skip_special_tokens);
  for (const int32_t token : prompt.last(std::min(prompt.size(), kContext))) decoded_->feed(token);
}

TokenLogProbability SamplingState::log_probabilities(std::span<const float> logits, int32_t chosen,
                                                     std::vector<TokenLogProbability>& best) const {
  const double log_sum = log_sum_exp(logits);
  const auto of = [&](int32_t token) {
    return TokenLogProbability{token,
                               static_cast<double>(logits[static_cast<size_t>(token)]) - log_sum};
  };
  std::vector<int32_t> order;
  order.reserve(logits.size());
  for (size_t i = 0; i < logits.size(); ++i)
    if (logits[i] != kForbiddenLogit) order.push_back(static_cast<int32_t>(i));
  const auto wanted = std::min(order.size(), static_cast<size_t>(options_.top_log_probabilities));
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(wanted), order.end(),
                    [&](int32_t a, int32_t b) {
                      const float x = logits[static_cast<size_t>(a)];
                      const float y = logits[static_cast<size_t>(b)];
                      return x != y ? x > y : a < b;
                    });
  for (size_t i = 0; i < wanted; ++i) best.push_back(of(order[i]));
  return of(chosen);
}

/// Rules and penalties may leave fewer of the largest logits than are needed.
LogitsNeeded SamplingState::logits_needed() const {
  constexpr int64_t kSpare = 8;
  const int64_t read = largest_needed(options_.sampling);
  if (records_probabilities() || !only_lowers_logits(options_.sampling) || read == 0 ||
      read + kSpare > kernels::kMostTopK)
    return {};
  return {.largest = read + kSpare};
}

/// The token after the output and `draft_offset` drafted ones, which rules and penalties ignore.
/// None if too few logits are known.
std::optional<int32_t> SamplingState::choose_from(const TokenLogits& logits, size_t draft_offset) {
  const TokensSoFar tokens = input_.with_output(sequence_.tokens);
  bias_logits(options_.rules, tokens, logits);
  adjust_logits(options_.sampling, counts_, logits);
  restrict_logits(options_.rules, tokens, logits);
  if (constrained_) constrained_->restrict(logits);
  return sample_token(options_.sampling, logits, number_, sequence_.tokens.size() + draft_offset);
}

int32_t SamplingState::choose(Logits& logits, size_t draft_offset) {
  if (!forced_.empty() && rules_allow(forced_.front())) return forced_.front();
  forced_.clear();
  if (constrained_) constrained_->keep_drafted(draft_offset);
  std::optional<int32_t> token;
  if (logits.has_largest() && only_lowers_logits(options_.sampling) &&
      only_lower_logits(options_.rules, input_.with_output(sequence_.tokens)))
    token = choose_from(logits.largest(0), draft_offset);
  if (!token) token = choose_from(logits.all(0), draft_offset);
  if (!constrained_) return *token;
  return constrained_->token_with_room(*token, room() - static_cast<int64_t>(draft_offset));
}

/// Tokens that the output may still have.
int64_t SamplingState::room() const {
  return input_.max_new_tokens - static_cast<int64_t>(sequence_.tokens.size());
}

int32_t SamplingState::draft_token(Logits& logits, size_t draft_offset) {
  try {
    const int32_t token = choose(logits, draft_offset);
    if (options_.rules.is_end(token)) return -1;
    if (constrained_) constrained_->draft(token);
    return token;
  } catch (const Error&) {  // the draft model's logits allow no token
    return -1;
  }
}

void SamplingState::shorten_draft(std::vector<int32_t>& draft) {
  if (!constrained_) return;
  constrained_->keep_drafted(0);
  size_t allowed = 0;
  while (allowed < draft.size() && constrained_->draft(draft[allowed])) ++allowed;
  draft.resize(allowed);
}

int64_t SamplingState::advance_drafted(Logits& logits, std::span<const int32_t> draft) {
  const size_t verified_rows = sequence_.cache_rows.size() - draft.size();
  const std::vector<int32_t>& tokens = sequence_.tokens;
  size_t accepted = 0;
  for (bool goes_on = true; goes_on;) {
    const auto row = static_cast<int64_t>(accepted);
    Logits own = logits.slice(row, row + 1);
    if (row > 0) own.check();
    size_t next = tokens.size();
    advance(own);
    goes_on = !ended_ && next < tokens.size();
    for (; next < tokens.size() && accepted < draft.size() && tokens[next] == draft[accepted];
         ++next)
      ++accepted;
    goes_on = goes_on && next == tokens.size();
  }
  sequence_.cache_rows.resize(verified_rows + accepted);
  result_.drafted_tokens += std::ssize(draft);
  result_.accepted_tokens += static_cast<int64_t>(accepted);
  return static_cast<int64_t>(accepted);
}

void SamplingState::advance(Logits& logits) {
  if (sequence_.tokens.empty() && append_forced()) return;
  std::vector<float> unadjusted;
  const bool recorded = records_probabilities();
  if (recorded) {
    const std::span<const float> all = logits.all(0).by_token();
    unadjusted.assign(all.begin(), all.end());
    if (constrained_ && !options_.constraint.free_log_probabilities) {
      constrained_->keep_drafted(0);
      constrained_->restrict(TokenLogits(unadjusted));
    }
  }
  const int32_t token = choose(logits, 0);
  if (options_.rules.is_end(token)) {
    if (recorded) result_.end_token = log_probabilities(unadjusted, token, result_.best_at_end);
    return finish(forces_end(options_.rules, input_.with_output(sequence_.tokens))
                      ? FinishReason::length
                      : FinishReason::stop);
  }
  if (recorded) {
    result_.chosen.push_back(log_probabilities(unadjusted, token, result_.best.emplace_back()));
    if (constrained_ && options_.constraint.free_log_probabilities) explain(result_.best.back());
  }
  append(token);
  if (forced_.empty())
    append_forced();
  else
    forced_.pop_front();
}

/// Says of tokens which the constraint forbids, and why.
void SamplingState::explain(std::vector<TokenLogProbability>& tokens) {
  constrained_->keep_drafted(0);
  for (TokenLogProbability& one : tokens) one.forbidden = constrained_->why_forbidden(one.token);
}

void SamplingState::append(int32_t token) {
  sequence_.tokens.push_back(token);
  counts_.add_output(token);
  if (constrained_) constrained_->append(token);
  if (decoded_) add_token_text(token);
  if (stop_.found() || (constrained_ && constrained_->is_complete()))
    return finish(FinishReason::stop);
  if (room() > 0) return;
  const bool completed =
      constrained_ && options_.constraint.complete && constrained_->is_accepting();
  finish(completed ? FinishReason::stop : FinishReason::length);
}

/// Appends the tokens that must come next, whose logits need not be computed. Returns whether there
/// are any. If their log-probabilities are wanted, they are appended one by one.
bool SamplingState::append_forced() {
  if (!constrained_ || !tokenizer_ || ended_) return false;
  const size_t before = sequence_.tokens.size();
  const auto forced = constrained_->forced_tokens(*tokenizer_, sequence_.tokens, room());
  if (records_probabilities() && options_.constraint.free_log_probabilities) {
    forced_.assign(forced.begin(), forced.end());
    return false;
  }
  for (const int32_t token : forced) {
    if (ended_ || !rules_allow(token)) break;
    if (records_probabilities()) {
      std::vector<TokenLogProbability>& best = result_.best.emplace_back();
      result_.chosen.push_back({token, 0.0});
      if (options_.top_log_probabilities > 0) best.push_back({token, 0.0});
    }
    append(token);
  }
  return sequence_.tokens.size() > before;
}

/// Whether neither the model's rules nor the request forbid the next token.
bool SamplingState::rules_allow(int32_t token) const {
  float logit = 0;
  const TokenLogits alone({&logit, 1}, {&token, 1}, kForbiddenLogit);
  const TokensSoFar tokens = input_.with_output(sequence_.tokens);
  bias_logits(options_.rules, tokens, alone);
  adjust_logits(options_.sampling, counts_, alone);
  restrict_logits(options_.rules, tokens, alone);
  return logit != kForbiddenLogit;
}

void SamplingState::finish(FinishReason reason) {
  ended_ = true;
  result_.tokens = sequence_.tokens;
  if (decoded_) add_text(decoded_->finish());
  result_.finish_reason = stop_.found() ? FinishReason::stop : reason;
  result_.stop_string = stop_.found();
  const std::string rest = stop_.finish();
  new_text_ += rest;
  result_.text += rest;
}

/// A special token may be a stop string, or a part of one, although the text does not show it.
void SamplingState::add_token_text(int32_t token) {
  add_text(decoded_->feed(token));
  if (options_.skip_special_tokens && tokenizer_->is_special(token))
    add_text(tokenizer_->piece(token), true);
}

void SamplingState::add_text(std::string_view text, bool hidden) {
  const std::string certain = stop_.feed(text, hidden);
  new_text_ += certain;
  result_.text += certain;
}

}  // namespace heed::generate
