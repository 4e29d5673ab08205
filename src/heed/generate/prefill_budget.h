#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "heed/generate/cached_decoder.h"

namespace heed::generate {

/// How many prompt tokens to add to a pass that also decodes (chunked prefill), from the measured
/// times of passes. A schedule depends on it, but never a result.
class PrefillBudget {
 public:
  /// The prompt tokens of a pass whose prefill takes kPrefillShare of the time of its decoding; at
  /// least kMinTokens.
  int64_t tokens() const;
  /// Less than 1, so that few passes take more than twice as long as decoding alone.
  static constexpr double kPrefillShare = 0.75;
  static constexpr int64_t kMinTokens = 8;

  /// Records the time of a pass with so many tokens of prompts and so many generated ones.
  void add(double seconds, int64_t prompt_tokens, int64_t generated_tokens);

  /// Measures a pass over `inputs` until it is destroyed.
  class Timer {
   public:
    Timer(PrefillBudget& budget, std::span<const CachedDecoder::DecodeInput> inputs);
    ~Timer();

   private:
    PrefillBudget& budget_;
    int64_t prompt_tokens_ = 0, generated_tokens_ = 0;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  };

 private:
  // Moving averages; 0 before the first value.
  double decode_seconds_ = 0;  // of a pass without prompts
  double prefill_token_seconds_ = 0;
};

}  // namespace heed::generate
