#include "heed/serve/admission.h"

#include <fmt/format.h>

#include "heed/serve/api_error.h"

namespace heed::serve {

void Admission::enter(int64_t tokens) {
  constexpr int kRetryAfter = 1;
  if (tokens > limits_.tokens)
    throw invalid_request(
        "", fmt::format("the input has {} tokens, and the server takes {} at most", tokens,
                        limits_.tokens));
  const std::lock_guard lock(mutex_);
  if (requests_ + 1 > limits_.requests)
    throw overloaded(fmt::format("{} requests wait already", requests_), kRetryAfter);
  if (tokens_ + tokens > limits_.tokens)
    throw overloaded(fmt::format("{} tokens wait already", tokens_), kRetryAfter);
  ++requests_;
  tokens_ += tokens;
}

void Admission::leave(int64_t requests, int64_t tokens) {
  const std::lock_guard lock(mutex_);
  requests_ -= requests;
  tokens_ -= tokens;
}

int64_t Admission::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

int64_t Admission::tokens() const {
  const std::lock_guard lock(mutex_);
  return tokens_;
}

}  // namespace heed::serve
