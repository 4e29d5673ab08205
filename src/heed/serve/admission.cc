#include "heed/serve/admission.h"

#include <fmt/format.h>

#include "heed/serve/api_error.h"

namespace heed::serve {

namespace {

constexpr int kRetryAfter = 1;

ApiError too_many(int64_t count, const char* what) {
  return overloaded(fmt::format("{} {} wait already", count, what), kRetryAfter);
}

}  // namespace

void Admission::check_room(int64_t others) const {
  const MutexLock lock(mutex_);
  const int64_t waiting = requests_ + others;
  if (waiting >= limits_.requests) throw too_many(waiting, "requests");
}

void Admission::enter(int64_t tokens) {
  if (tokens > limits_.tokens)
    throw invalid_request(
        "", fmt::format("the input has {} tokens, and the server takes {} at most", tokens,
                        limits_.tokens));
  const MutexLock lock(mutex_);
  if (requests_ + 1 > limits_.requests) throw too_many(requests_, "requests");
  if (tokens_ + tokens > limits_.tokens) throw too_many(tokens_, "tokens");
  ++requests_;
  tokens_ += tokens;
}

void Admission::leave(int64_t requests, int64_t tokens) {
  const MutexLock lock(mutex_);
  requests_ -= requests;
  tokens_ -= tokens;
}

int64_t Admission::requests() const {
  const MutexLock lock(mutex_);
  return requests_;
}

int64_t Admission::tokens() const {
  const MutexLock lock(mutex_);
  return tokens_;
}

}  // namespace heed::serve
