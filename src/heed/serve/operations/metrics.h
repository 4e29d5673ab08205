#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
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
  /// The duration that this part of them, 0 to 1, does not exceed, interpolated between bounds as
  /// Prometheus' histogram_quantile() does; none without durations.
  std::optional<double> quantile(double part) const;

 private:
  std::array<int64_t, kBounds.size() + 1> counts_ = {};
  double sum_ = 0;
};

/// Statistics of the calls that have ended, for GET /metrics. May be used by any thread.
class Metrics {
 public:
  /// A call to `model` has ended with this status; 499: its client went away before. The model is
  /// empty unless there is one of this name, so that clients cannot make up labels.
  void add(const Call& call, int status, const std::string& model);
  /// What was not a request, or a larger one than the limits allow, was refused.
  void add_refusal(int status);
  void add_token_interval(const std::string& model, const std::string& route, double seconds);
  /// Tokens were generated, for a call that goes on.
  void add_tokens(int64_t count);
  /// The deadline of a call has passed.
  void add_deadline();
  void add_reload(bool succeeded);

  /// Prometheus' text format.
  std::string text() const;

  /// What has ended since the last call of take_interval(), of calls of models.
  struct Interval {
    int64_t requests = 0;   // all that follow, and those that were answered
    int64_t errors = 0;     // of the server
    int64_t refused = 0;    // for the client, or for lack of room
    int64_t cancelled = 0;  // the client went away
    int64_t input_tokens = 0, output_tokens = 0;
    Histogram seconds, first_token_seconds;  // of those that were answered
  };
  Interval take_interval();

 private:
  struct Times {
    Histogram first_token, token_interval, queue, prefill, decode;
    int64_t input_tokens = 0, output_tokens = 0;
  };
  using Key = std::pair<std::string, std::string>;  // model and route
  struct KeyUse {
    std::map<int, int64_t> requests;  // by status
    int64_t input_tokens = 0, output_tokens = 0;
  };
  void add_to_interval(const Call::Statistics& statistics, int status, double seconds)
      HEED_REQUIRES(mutex_);
  void print_counts(std::string& out) const HEED_REQUIRES(mutex_);
  void print_keys(std::string& out) const HEED_REQUIRES(mutex_);
  void print_times(std::string& out) const HEED_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<Key, Times> times_ HEED_GUARDED_BY(mutex_);
  std::map<std::pair<Key, int>, int64_t> requests_ HEED_GUARDED_BY(mutex_);   // by status
  std::map<std::pair<Key, int>, Histogram> seconds_ HEED_GUARDED_BY(mutex_);  // likewise
  std::map<std::string, int64_t> refusals_ HEED_GUARDED_BY(mutex_);           // by reason
  std::map<std::string, KeyUse> keys_ HEED_GUARDED_BY(mutex_);                // by name
  int64_t left_ HEED_GUARDED_BY(mutex_) = 0, late_ HEED_GUARDED_BY(mutex_) = 0;
  int64_t reloads_ HEED_GUARDED_BY(mutex_) = 0, failed_reloads_ HEED_GUARDED_BY(mutex_) = 0;
  Interval interval_ HEED_GUARDED_BY(mutex_);
};

/// A sample of Prometheus' text format; `labels` is empty or {model="name"}.
std::string metric_line(const std::string& name, const std::string& labels, double value);
/// {model="name",route="/path"}, escaped.
std::string metric_labels(const std::vector<std::pair<std::string, std::string>>& labels);
/// # HELP and # TYPE.
std::string metric_header(const std::string& name, const std::string& type,
                          const std::string& help);

}  // namespace heed::serve
