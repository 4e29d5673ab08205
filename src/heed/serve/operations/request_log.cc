#include "heed/serve/operations/request_log.h"

#include <fmt/chrono.h>

#include <chrono>

#include "heed/base/json.h"
#include "heed/serve/fields/json_fields.h"
#include "heed/serve/operations/trace_context.h"

namespace heed::serve {
namespace {

/// Seconds between two moments, to the microsecond.
double seconds(Call::Clock::time_point begin, Call::Clock::time_point end) {
  using std::chrono::microseconds;
  return static_cast<double>(std::chrono::duration_cast<microseconds>(end - begin).count()) / 1e6;
}

/// What a client has sent may be long.
std::string cut(std::string_view text) {
  constexpr size_t kMostBytes = 256;
  return std::string(text.substr(0, kMostBytes));
}

std::string time_text() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

std::string refusal_line(const HttpRequest& request, int status, std::string_view error) {
  const Json line = {{"time", time_text()},
                     {"id", request.id},
                     {"client", request.client},
                     {"status", status},
                     {"user_agent", text_or_null(cut(request.header("user-agent")))},
                     {"error", error}};
  return dump_json(line, {.replace_invalid = true});
}

std::string log_line(const Call& call, int status, bool texts) {
  const Call::Statistics statistics = call.statistics();
  const HttpRequest& request = call.request();
  const auto since = [&](const std::optional<Call::Clock::time_point>& moment) {
    return moment ? Json(seconds(statistics.arrived, *moment)) : Json();
  };
  Json line = {{"time", time_text()},
               {"id", request.id},
               {"client", request.client},
               {"method", request.method},
               {"route", call.route()},
               {"path", cut(request.path)},
               {"user_agent", text_or_null(cut(request.header("user-agent")))},
               {"key", text_or_null(call.key_name)},
               {"status", status},
               {"model", text_or_null(statistics.model)},
               {"input_tokens", statistics.input_tokens},
               {"output_tokens", statistics.output_tokens},
               {"queue_seconds", since(statistics.started)},
               {"first_token_seconds", since(statistics.first_token)},
               {"seconds", seconds(statistics.arrived, Call::Clock::now())},
               {"error", text_or_null(statistics.error)}};
  if (const auto trace = trace_context_of(request)) {
    line["trace_id"] = trace->trace_id;
    line["parent_id"] = trace->parent_id;
  }
  if (!statistics.ignored_keywords.empty()) line["ignored_keywords"] = statistics.ignored_keywords;
  if (!statistics.ignored_fields.empty()) line["ignored_fields"] = statistics.ignored_fields;
  if (texts) line["body"] = request.body;
  return dump_json(line, {.replace_invalid = true});
}

std::string device_line(const std::string& model, const std::string& gpu) {
  return dump_json(Json{{"time", time_text()}, {"model", model}, {"device", gpu}},
                   {.replace_invalid = true});
}

std::string warning_line(const std::string& model, const std::string& warning) {
  return dump_json(Json{{"time", time_text()}, {"model", model}, {"warning", warning}},
                   {.replace_invalid = true});
}

}  // namespace heed::serve
