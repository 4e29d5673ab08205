#include "heed/generate/prefill_budget.h"

#include <algorithm>
#include <limits>

#include "heed/base/duration.h"
#include "heed/generate/moving_average.h"

namespace heed::generate {

int64_t PrefillBudget::tokens() const {
  if (prefill_token_seconds_ == 0 || decode_seconds_ == 0) return 4 * kMinTokens;
  const double tokens = kPrefillShare * decode_seconds_ / prefill_token_seconds_;
  constexpr double kMax = std::numeric_limits<int32_t>::max();
  return std::max(kMinTokens, static_cast<int64_t>(std::min(tokens, kMax)));
}

void PrefillBudget::add(double seconds, int64_t prompt_tokens, int64_t generated_tokens) {
  if (prompt_tokens == 0) {
    if (generated_tokens > 0) add_to_average(decode_seconds_, seconds);
    return;
  }
  // Negative if the pass ended early, or if decode_seconds_ was measured on a busy machine.
  const double own = seconds - (generated_tokens > 0 ? decode_seconds_ : 0);
  if (own > 0) add_to_average(prefill_token_seconds_, own / static_cast<double>(prompt_tokens));
}

PrefillBudget::Timer::Timer(PrefillBudget& budget,
                            std::span<const CachedDecoder::DecodeInput> inputs)
    : budget_(budget) {
  for (const CachedDecoder::DecodeInput& input : inputs)
    (input.generated ? generated_tokens_ : prompt_tokens_) += std::ssize(input.tokens);
}

PrefillBudget::Timer::~Timer() {
  budget_.add(seconds_between(start_, std::chrono::steady_clock::now()), prompt_tokens_,
              generated_tokens_);
}

}  // namespace heed::generate
