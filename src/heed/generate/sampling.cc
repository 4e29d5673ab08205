#include "heed/generate/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/kernels/argmax.h"

namespace heed::generate {
namespace {

constexpr const char* kAllForbidden = "every token is forbidden: no logit is above -inf";

struct LessProbable {
  bool operator()(const TokenLogit& a, const TokenLogit& b) const { return b < a; }
};

bool penalizes(const SamplingOptions& options) {
  return options.repetition_penalty != 1.0f || options.presence_penalty != 0.0f ||
         options.frequency_penalty != 0.0f;
}

void penalize(const SamplingOptions& options, const TokenCounts& counts,
              const TokenLogits& logits) {
  for (const auto& [token, times] : counts.in_output()) {
    float* const found = logits.find(token);
    if (!found) continue;
    float& logit = *found;
    logit = logit > 0 ? logit / options.repetition_penalty : logit * options.repetition_penalty;
    if (times > 0)
      logit -= options.presence_penalty + options.frequency_penalty * static_cast<float>(times);
    logit = std::min(logit, kMaxLogit);
  }
}

int32_t most_probable(std::span<const float> logits) {
  const int64_t token = kernels::argmax(logits);
  require_input(token >= 0 && logits[static_cast<size_t>(token)] != kForbiddenLogit, kAllForbidden);
  return static_cast<int32_t>(token);
}

/// The probability of a token relative to that of the most probable one.
double weight(const SamplingOptions& options, float logit, float largest) {
  return std::exp((static_cast<double>(logit) - static_cast<double>(largest)) /
                  static_cast<double>(options.temperature));
}

/// Keeps the most probable candidates, in order, until their probabilities sum to top_p. A heap
/// yields them one by one: usually few are needed, and sorting all would take longer than the
/// matrix product of the language model head.
void keep_top_p(const SamplingOptions& options, float largest, std::vector<TokenLogit>& left) {
  double total = 0;
  for (const TokenLogit& candidate : left) total += weight(options, candidate.logit, largest);
  std::make_heap(left.begin(), left.end(), LessProbable());
  std::vector<TokenLogit> kept;
  for (double sum = 0; !left.empty() && sum < static_cast<double>(options.top_p) * total;) {
    std::pop_heap(left.begin(), left.end(), LessProbable());
    kept.push_back(left.back());
    left.pop_back();
    sum += weight(options, kept.back().logit, largest);
  }
  left = std::move(kept);
}

}  // namespace

void check(const SamplingOptions& options, int64_t vocab_size) {
  for_each_sampling_option([&](const auto& option) { option.check(options.*option.resolved); });
  for (const auto& [token, bias] : options.logit_bias) {
    require_input(token >= 0 && token < vocab_size,
                  "the logit bias of token {} is outside the vocabulary of {} tokens", token,
                  vocab_size);
    require_input(bias < std::numeric_limits<float>::infinity(),
                  "the logit bias of token {} is {}, expected a finite number or -inf", token,
                  bias);
  }
}

void TokenCounts::add_prompt(std::span<const int32_t> tokens) {
  for (const int32_t token : tokens) in_output_.try_emplace(token, 0);
}

bool only_lowers_logits(const SamplingOptions& options) {
  return options.repetition_penalty >= 1 && options.presence_penalty >= 0 &&
         options.frequency_penalty >= 0 &&
         std::ranges::all_of(options.logit_bias, [](const auto& bias) { return bias.bias <= 0; });
}

void adjust_logits(const SamplingOptions& options, const TokenCounts& counts,
                   const TokenLogits& logits) {
  if (penalizes(options)) penalize(options, counts, logits);
  for (const auto& [token, bias] : options.logit_bias)
    if (float* const logit = logits.find(token)) *logit = std::min(*logit + bias, kMaxLogit);
}

std::vector<TokenProbability> candidates(const SamplingOptions& options,
                                         const TokenLogits& logits) {
  std::vector<TokenLogit> left = logits.allowed();
  require_input(!left.empty(), kAllForbidden);
  const auto most = std::min_element(left.begin(), left.end());
  if (options.temperature == 0.0f) return {{most->token, 1.0}};
  const float largest = most->logit;
  if (options.top_k > 0) {
    const auto k = std::min(left.size(), static_cast<size_t>(options.top_k));
    std::partial_sort(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(k), left.end());
    left.resize(k);
  }
  if (options.top_p < 1.0f) keep_top_p(options, largest, left);
  std::vector<TokenProbability> kept;
  double total = 0;
  for (const TokenLogit& candidate : left) {
    const double own = weight(options, candidate.logit, largest);
    if (own < static_cast<double>(options.min_p)) continue;
    kept.push_back({candidate.token, own});
    total += own;
  }
  for (TokenProbability& candidate : kept) candidate.probability /= total;
  return kept;
}

int64_t largest_needed(const SamplingOptions& options) {
  return options.temperature == 0.0f ? 1 : options.top_k;
}

std::optional<int32_t> sample_token(const SamplingOptions& options, const TokenLogits& logits,
                                    uint64_t sequence, uint64_t step) {
  const int64_t needed = largest_needed(options);
  if (needed == 0 ? !logits.complete() : !logits.has_largest(needed)) return {};
  if (options.temperature == 0.0f && !logits.by_token().empty())
    return most_probable(logits.by_token());
  const std::vector<TokenProbability> left = candidates(options, logits);
  double rest = CounterRandom(options.seed, sequence).uniform(step);
  for (const TokenProbability& candidate : left) {
    rest -= candidate.probability;
    if (rest < 0) return candidate.token;
  }
  return left.back().token;  // if the probabilities sum to less than 1 after rounding
}

}  // namespace heed::generate
