#include "heed/serve/metrics.h"

#include <fmt/format.h>

#include <algorithm>

namespace heed::serve {
namespace {

double seconds_between(Call::Clock::time_point begin, Call::Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

std::string metric_line(const std::string& name, const std::string& labels, double value) {
  return fmt::format("{}{} {}\n", name, labels, value);
}

std::string metric_labels(const std::vector<std::pair<std::string, std::string>>& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text += fmt::format("{}{}=\"", text.empty() ? "{" : ",", name);
    for (const char c : value) {
      if (c == '\\' || c == '"') text += '\\';
      text += c == '\n' ? std::string("\\n") : std::string(1, c);
    }
    text += '"';
  }
  return text.empty() ? text : text + "}";
}

std::string metric_header(const std::string& name, const std::string& type,
                          const std::string& help) {
  return fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void Histogram::add(double seconds) {
  const auto bound = std::ranges::lower_bound(kBounds, seconds);
  ++counts_[static_cast<size_t>(bound - kBounds.begin())];
  sum_ += seconds;
}

void Histogram::print(std::string& out, const std::string& name, const std::string& labels) const {
  const std::string open = labels.empty() ? "{" : labels.substr(0, labels.size() - 1) + ",";
  int64_t count = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    count += counts_[i];
    const std::string bound = i < kBounds.size() ? fmt::format("{}", kBounds[i]) : "+Inf";
    out += fmt::format("{}_bucket{}le=\"{}\"}} {}\n", name, open, bound, count);
  }
  out += metric_line(name + "_sum", labels, sum_);
  out += fmt::format("{}_count{} {}\n", name, labels, count);
}

void Metrics::add(const Call& call, int status) {
  const Call::Statistics statistics = call.statistics();
  const auto now = Call::Clock::now();
  const Key key{statistics.model, call.route()};
  const MutexLock lock(mutex_);
  ++requests_[{key, status}];
  if (statistics.model.empty()) return;
  Times& times = times_[key];
  times.input_tokens += statistics.started ? statistics.input_tokens : 0;
  times.output_tokens += statistics.output_tokens;
  times.total.add(seconds_between(statistics.arrived, now));
  if (statistics.started) times.queue.add(seconds_between(statistics.arrived, *statistics.started));
  if (statistics.first_token)
    times.first_token.add(seconds_between(statistics.arrived, *statistics.first_token));
}

void Metrics::add_token_interval(const std::string& model, const std::string& route,
                                 double seconds) {
  const MutexLock lock(mutex_);
  times_[{model, route}].token_interval.add(seconds);
}

std::string Metrics::text() const {
  const MutexLock lock(mutex_);
  std::string out = metric_header("heed_requests_total", "counter",
                                  "Requests that have ended, by status; 499: the client left");
  for (const auto& [key, count] : requests_)
    out += metric_line("heed_requests_total",
                       metric_labels({{"model", key.first.first},
                                      {"route", key.first.second},
                                      {"status", std::to_string(key.second)}}),
                       static_cast<double>(count));
  const auto counter = [&](const std::string& name, const std::string& help,
                           auto member) HEED_REQUIRES(mutex_) {
    out += metric_header(name, "counter", help);
    for (const auto& [key, times] : times_)
      out += metric_line(name, metric_labels({{"model", key.first}, {"route", key.second}}),
                         static_cast<double>(times.*member));
  };
  const auto histogram = [&](const std::string& name, const std::string& help,
                             auto member) HEED_REQUIRES(mutex_) {
    out += metric_header(name, "histogram", help);
    for (const auto& [key, times] : times_)
      (times.*member)
          .print(out, name, metric_labels({{"model", key.first}, {"route", key.second}}));
  };
  counter("heed_input_tokens_total", "Tokens of prompts and texts", &Times::input_tokens);
  counter("heed_output_tokens_total", "Tokens that were generated", &Times::output_tokens);
  histogram("heed_request_seconds", "From the request to the end of its answer", &Times::total);
  histogram("heed_queue_seconds", "From the request to the beginning of its computation",
            &Times::queue);
  histogram("heed_time_to_first_token_seconds", "From the request to its first token",
            &Times::first_token);
  histogram("heed_inter_token_seconds", "Between two tokens of an answer", &Times::token_interval);
  return out;
}

}  // namespace heed::serve
