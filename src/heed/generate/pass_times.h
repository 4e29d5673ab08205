#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "heed/generate/cached_decoder.h"

namespace heed::generate {

/// How long passes take: what a schedule, but never a result, depends on.
class PassTimes {
 public:
  /// The number of prompt tokens that take kShare of the time of the generated tokens of a pass
  /// beside them; at least kMinTokens.
  int64_t balanced_prompt_tokens() const;
  /// Less than 1, so that few passes take more than twice as long as without prompts.
  static constexpr double kShare = 0.75;
  static constexpr int64_t kMinTokens = 8;

  /// A pass took so long with so many tokens of prompts and so many generated ones.
  void add(double seconds, int64_t prompt_tokens, int64_t generated_tokens);

  /// Measures a pass over `inputs` until it is destroyed.
  class Measurement {
   public:
    Measurement(PassTimes& times, std::span<const CachedDecoder::DecodeInput> inputs);
    ~Measurement();

   private:
    PassTimes& times_;
    int64_t prompt_tokens_ = 0, generated_tokens_ = 0;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  };

 private:
  // Moving averages; 0 until there is one.
  double generating_seconds_ = 0;  // of a pass without prompts
  double prompt_token_seconds_ = 0;
};

}  // namespace heed::generate
