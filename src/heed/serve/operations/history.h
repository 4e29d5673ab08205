#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "heed/serve/operations/metrics.h"

namespace heed::serve {

/// What the server did in the last hour, for GET /v1/history: a sample every ten seconds. Belongs
/// to the network thread.
class History {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kInterval{10};
  static constexpr size_t kSamples = 360;

  /// What is measured when a sample is taken.
  struct Gauges {
    int64_t queued_requests = 0, running_requests = 0, memory_bytes = 0;
  };

  /// Whether it is time for the next sample.
  bool due(Clock::time_point now) const { return now >= next_; }
  /// Adds a sample; the oldest one is forgotten when there are kSamples.
  void add(Clock::time_point now, const Metrics::Interval& interval, const Gauges& gauges);

  /// Lists of equal length, the newest sample last.
  nlohmann::ordered_json json() const;

 private:
  struct Sample {
    std::time_t time;  // of its end
    int64_t requests, errors, refused, cancelled, input_tokens, output_tokens;
    Gauges gauges;
    std::optional<double> median, p95, first_token_median, first_token_p95;  // seconds
  };

  Clock::time_point next_ = Clock::now() + kInterval;
  std::deque<Sample> samples_;
};

}  // namespace heed::serve
