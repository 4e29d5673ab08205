#include "heed/serve/operations/history.h"

#include <nlohmann/json.hpp>

namespace heed::serve {

void History::add(Clock::time_point now, const Metrics::Interval& interval, const Gauges& gauges) {
  next_ = now + kInterval;
  if (samples_.size() == kSamples) samples_.pop_front();
  samples_.push_back({.time = std::time(nullptr),
                      .requests = interval.requests,
                      .errors = interval.errors,
                      .refused = interval.refused,
                      .cancelled = interval.cancelled,
                      .input_tokens = interval.input_tokens,
                      .output_tokens = interval.output_tokens,
                      .gauges = gauges,
                      .median = interval.seconds.quantile(0.5),
                      .p95 = interval.seconds.quantile(0.95),
                      .first_token_median = interval.first_token_seconds.quantile(0.5),
                      .first_token_p95 = interval.first_token_seconds.quantile(0.95)});
}

nlohmann::ordered_json History::json() const {
  nlohmann::ordered_json json = {{"interval_seconds", kInterval.count()}};
  const auto list = [&](const char* name, auto value_of) {
    nlohmann::ordered_json& values = json[name] = nlohmann::ordered_json::array();
    for (const Sample& sample : samples_) values.push_back(value_of(sample));
  };
  const auto seconds = [&](const char* name, auto member) {
    list(name, [&](const Sample& sample) {
      const std::optional<double>& value = sample.*member;
      return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
    });
  };
  list("time", [](const Sample& one) { return one.time; });
  list("requests", [](const Sample& one) { return one.requests; });
  list("errors", [](const Sample& one) { return one.errors; });
  list("refused", [](const Sample& one) { return one.refused; });
  list("cancelled", [](const Sample& one) { return one.cancelled; });
  list("input_tokens", [](const Sample& one) { return one.input_tokens; });
  list("output_tokens", [](const Sample& one) { return one.output_tokens; });
  list("queued_requests", [](const Sample& one) { return one.gauges.queued_requests; });
  list("running_requests", [](const Sample& one) { return one.gauges.running_requests; });
  list("memory_bytes", [](const Sample& one) { return one.gauges.memory_bytes; });
  seconds("seconds_p50", &Sample::median);
  seconds("seconds_p95", &Sample::p95);
  seconds("first_token_seconds_p50", &Sample::first_token_median);
  seconds("first_token_seconds_p95", &Sample::first_token_p95);
  return json;
}

}  // namespace heed::serve
