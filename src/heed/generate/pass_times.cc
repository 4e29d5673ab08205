#include "heed/generate/pass_times.h"

#include <algorithm>
#include <limits>

#include "heed/generate/moving_average.h"

namespace heed::generate {

int64_t PassTimes::balanced_prompt_tokens() const {
  if (prompt_token_seconds_ == 0 || generating_seconds_ == 0) return 4 * kMinTokens;
  const double tokens = kShare * generating_seconds_ / prompt_token_seconds_;
  constexpr double kMax = std::numeric_limits<int32_t>::max();
  return std::max(kMinTokens, static_cast<int64_t>(std::min(tokens, kMax)));
}

void PassTimes::add(double seconds, int64_t prompt_tokens, int64_t generated_tokens) {
  if (prompt_tokens == 0) {
    if (generated_tokens > 0) add_to_average(generating_seconds_, seconds);
    return;
  }
  // A pass that ends early, or during which the machine did something else, may be shorter.
  const double own = seconds - (generated_tokens > 0 ? generating_seconds_ : 0);
  if (own > 0) add_to_average(prompt_token_seconds_, own / static_cast<double>(prompt_tokens));
}

PassTimes::Measurement::Measurement(PassTimes& times,
                                    std::span<const CachedDecoder::DecodeInput> inputs)
    : times_(times) {
  for (const CachedDecoder::DecodeInput& input : inputs)
    (input.generated ? generated_tokens_ : prompt_tokens_) += std::ssize(input.tokens);
}

PassTimes::Measurement::~Measurement() {
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
  times_.add(took.count(), prompt_tokens_, generated_tokens_);
}

}  // namespace heed::generate
