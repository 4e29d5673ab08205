#include "heed/serve/operations/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace heed::serve {
namespace {

double seconds_between(Call::Clock::time_point begin, Call::Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

constexpr int kClientLeft = 499;

/// Whether a request was refused: 503 is for lack of room or of a model.
bool is_refusal(int status) {
  return (status >= 400 && status < 500 && status != kClientLeft) || status == 503;
}

/// The code of the error of a refusal; of errors without one, that of their status.
std::string reason_of(const Call::Statistics& statistics, int status) {
  switch (status) {
    case 400:
      return statistics.error_code.empty() ? "not_http" : statistics.error_code;
    case 404:
      return statistics.error_code == "model_not_found" ? statistics.error_code : "not_found";
    case 405:
      return "method_not_allowed";
    case 413:
      return "body_too_large";
    case 415:
      return "unsupported_media_type";
    case 417:
      return "expectation_failed";
    case 431:
      return "headers_too_large";
    default:
      return statistics.error_code.empty() ? std::to_string(status) : statistics.error_code;
  }
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

std::optional<double> Histogram::quantile(double part) const {
  int64_t all = 0;
  for (const int64_t count : counts_) all += count;
  if (all == 0) return std::nullopt;
  const double rank = part * static_cast<double>(all);
  int64_t below = 0;
  for (size_t i = 0; i < kBounds.size(); ++i) {
    if (counts_[i] > 0 && static_cast<double>(below + counts_[i]) >= rank) {
      const double begin = i == 0 ? 0 : kBounds[i - 1];
      return begin + (kBounds[i] - begin) * (rank - static_cast<double>(below)) /
                         static_cast<double>(counts_[i]);
    }
    below += counts_[i];
  }
  return kBounds.back();
}

void Metrics::add(const Call& call, int status, const std::string& model) {
  const Call::Statistics statistics = call.statistics();
  const double seconds = seconds_between(statistics.arrived, Call::Clock::now());
  const Key key{model, call.route()};
  const MutexLock lock(mutex_);
  ++requests_[{key, status}];
  if (status == kClientLeft) ++left_;
  if (is_refusal(status)) ++refusals_[reason_of(statistics, status)];
  if (!call.key_name.empty()) {
    KeyUse& use = keys_[call.key_name];
    ++use.requests[status];
    use.input_tokens += statistics.started ? statistics.input_tokens : 0;
    use.output_tokens += statistics.output_tokens;
  }
  if (call.uses_model) add_to_interval(statistics, status, seconds);
  if (model.empty()) return;
  seconds_[{key, status}].add(seconds);
  Times& times = times_[key];
  if (!statistics.started) return;
  times.input_tokens += statistics.input_tokens;
  times.output_tokens += statistics.output_tokens;
  times.queue.add(seconds_between(statistics.arrived, *statistics.started));
  if (!statistics.first_token) return;
  times.first_token.add(seconds_between(statistics.arrived, *statistics.first_token));
  times.prefill.add(seconds_between(*statistics.started, *statistics.first_token));
  times.decode.add(seconds_between(*statistics.first_token, *statistics.last_token));
}

/// Generated tokens are counted as they come.
void Metrics::add_to_interval(const Call::Statistics& statistics, int status, double seconds) {
  ++interval_.requests;
  interval_.input_tokens += statistics.started ? statistics.input_tokens : 0;
  if (status == kClientLeft)
    ++interval_.cancelled;
  else if (is_refusal(status))
    ++interval_.refused;
  else if (status >= 500)
    ++interval_.errors;
  else
    interval_.seconds.add(seconds);
  if (statistics.first_token)
    interval_.first_token_seconds.add(seconds_between(statistics.arrived, *statistics.first_token));
}

void Metrics::add_refusal(int status) {
  const MutexLock lock(mutex_);
  ++refusals_[reason_of({}, status)];
}

void Metrics::add_token_interval(const std::string& model, const std::string& route,
                                 double seconds) {
  const MutexLock lock(mutex_);
  times_[{model, route}].token_interval.add(seconds);
}

void Metrics::add_tokens(int64_t count) {
  const MutexLock lock(mutex_);
  interval_.output_tokens += count;
}

void Metrics::add_deadline() {
  const MutexLock lock(mutex_);
  ++late_;
}

void Metrics::add_reload(bool succeeded) {
  const MutexLock lock(mutex_);
  ++(succeeded ? reloads_ : failed_reloads_);
}

Metrics::Interval Metrics::take_interval() {
  const MutexLock lock(mutex_);
  return std::exchange(interval_, {});
}

void Metrics::print_counts(std::string& out) const {
  const auto line = [&](const std::string& name, const std::string& labels, int64_t count) {
    out += metric_line(name, labels, static_cast<double>(count));
  };
  out += metric_header("heed_requests_total", "counter",
                       "Requests that have ended, by status; 499: the client left");
  for (const auto& [key, count] : requests_)
    line("heed_requests_total",
         metric_labels({{"model", key.first.first},
                        {"route", key.first.second},
                        {"status", std::to_string(key.second)}}),
         count);
  out += metric_header("heed_refusals_total", "counter",
                       "Requests that were refused, by the code of the error");
  for (const auto& [reason, count] : refusals_)
    line("heed_refusals_total", metric_labels({{"reason", reason}}), count);
  out += metric_header("heed_cancellations_total", "counter",
                       "Requests whose work was ended before they were answered");
  line("heed_cancellations_total", metric_labels({{"reason", "client_left"}}), left_);
  line("heed_cancellations_total", metric_labels({{"reason", "deadline"}}), late_);
  out += metric_header("heed_reloads_total", "counter",
                       "Times that other models were to be served; failure: nothing has changed");
  line("heed_reloads_total", metric_labels({{"result", "success"}}), reloads_);
  line("heed_reloads_total", metric_labels({{"result", "failure"}}), failed_reloads_);
}

void Metrics::print_keys(std::string& out) const {
  if (keys_.empty()) return;
  out += metric_header("heed_key_requests_total", "counter",
                       "Requests that have ended, by the name of their API key and status");
  for (const auto& [name, use] : keys_)
    for (const auto& [status, count] : use.requests)
      out += metric_line("heed_key_requests_total",
                         metric_labels({{"key", name}, {"status", std::to_string(status)}}),
                         static_cast<double>(count));
  const auto tokens = [&](const std::string& name, const std::string& help,
                          auto member) HEED_REQUIRES(mutex_) {
    out += metric_header(name, "counter", help);
    for (const auto& [key, use] : keys_)
      out += metric_line(name, metric_labels({{"key", key}}), static_cast<double>(use.*member));
  };
  tokens("heed_key_input_tokens_total", "Tokens of prompts and texts, by API key",
         &KeyUse::input_tokens);
  tokens("heed_key_output_tokens_total", "Tokens that were generated, by API key",
         &KeyUse::output_tokens);
}

void Metrics::print_times(std::string& out) const {
  const auto labels_of = [](const Key& key) {
    return metric_labels({{"model", key.first}, {"route", key.second}});
  };
  const auto counter = [&](const std::string& name, const std::string& help,
                           auto member) HEED_REQUIRES(mutex_) {
    out += metric_header(name, "counter", help);
    for (const auto& [key, times] : times_)
      out += metric_line(name, labels_of(key), static_cast<double>(times.*member));
  };
  const auto histogram = [&](const std::string& name, const std::string& help, auto member)
                             HEED_REQUIRES(mutex_) {
                               out += metric_header(name, "histogram", help);
                               for (const auto& [key, times] : times_)
                                 (times.*member).print(out, name, labels_of(key));
                             };
  counter("heed_input_tokens_total", "Tokens of prompts and texts", &Times::input_tokens);
  counter("heed_output_tokens_total", "Tokens that were generated", &Times::output_tokens);
  out += metric_header("heed_request_seconds", "histogram",
                       "From the request to the end of its answer, by status");
  for (const auto& [key, seconds] : seconds_)
    seconds.print(out, "heed_request_seconds",
                  metric_labels({{"model", key.first.first},
                                 {"route", key.first.second},
                                 {"status", std::to_string(key.second)}}));
  histogram("heed_queue_seconds", "From the request to the beginning of its computation",
            &Times::queue);
  histogram("heed_time_to_first_token_seconds", "From the request to its first token",
            &Times::first_token);
  histogram("heed_prefill_seconds", "From the beginning of its computation to the first token",
            &Times::prefill);
  histogram("heed_decode_seconds", "From the first token of an answer to its last", &Times::decode);
  histogram("heed_inter_token_seconds", "Between two tokens of an answer", &Times::token_interval);
}

std::string Metrics::text() const {
  const MutexLock lock(mutex_);
  std::string out;
  print_counts(out);
  print_keys(out);
  print_times(out);
  return out;
}

}  // namespace heed::serve
