#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/mutex.h"
#include "heed/serve/call.h"

namespace heed::serve {

/// Counts of durations, as Prometheus has them.
class Histogram {
 public:
  static constexpr std::array kBounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,  0.25,
                                      0.5,   1.0,    2.5,   5.0,  10.0,  25.0, 60.0, 300.0};

  void add(double seconds);
  /// Lines of Prometheus' text format.
  void print(std::string& out, const std::string& name, const std::string& labels) const;

 private:
  std::array<int64_t, kBounds.size() + 1> counts_ = {};
  double sum_ = 0;
};

/// Statistics of the calls that have ended, for GET /metrics. May be used by any thread.
class Metrics {
 public:
  /// A call has ended with this status; 499: its client went away before.
  void add(const Call& call, int status);
  void add_token_interval(const std::string& model, const std::string& route, double seconds);

  /// Prometheus' text format.
  std::string text() const;

 private:
  struct Times {
    Histogram first_token, token_interval, queue, total;
    int64_t input_tokens = 0, output_tokens = 0;
  };
  using Key = std::pair<std::string, std::string>;  // model and route

  mutable Mutex mutex_;
  std::map<Key, Times> times_ HEED_GUARDED_BY(mutex_);
  std::map<std::pair<Key, int>, int64_t> requests_ HEED_GUARDED_BY(mutex_);  // by status
};

/// A sample of Prometheus' text format; `labels` is empty or {model="name"}.
std::string metric_line(const std::string& name, const std::string& labels, double value);
/// {model="name",route="/path"}, escaped.
std::string metric_labels(const std::vector<std::pair<std::string, std::string>>& labels);
/// # HELP and # TYPE.
std::string metric_header(const std::string& name, const std::string& type,
                          const std::string& help);

}  // namespace heed::serve
