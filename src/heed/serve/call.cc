#include "heed/serve/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "heed/base/json.h"

namespace heed::serve {

Call::Call(std::shared_ptr<HttpTransaction> transaction, std::string route)
    : transaction_(std::move(transaction)), route_(std::move(route)) {}

Call::~Call() {
  if (admission_) admission_->leave(statistics_.started ? 0 : 1, waiting_tokens_);
}

/// Adds what is said of ignored fields.
HttpResponse Call::with_ignored_fields(HttpResponse response) const {
  const MutexLock lock(mutex_);
  if (!statistics_.ignored_fields.empty())
    response.headers.emplace_back("X-Heed-Ignored",
                                  fmt::format("{}", fmt::join(statistics_.ignored_fields, ", ")));
  return response;
}

void Call::respond(HttpResponse response) {
  transaction_->respond(with_ignored_fields(std::move(response)));
}

void Call::respond_json(const nlohmann::ordered_json& body) {
  respond({.body = dump_json(body, {.replace_invalid = true})});
}

void Call::begin_events() {
  transaction_->begin(with_ignored_fields(
      {.content_type = "text/event-stream",
       .body = "",
       .headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}}}));
  const MutexLock lock(mutex_);
  last_sent_ = Clock::now();
}

void Call::accepted() {
  if (const auto function = std::exchange(on_accepted_, nullptr)) function();
}

void Call::send_heartbeat(Clock::time_point now) {
  {
    const MutexLock lock(mutex_);
    if (!last_sent_ || now - *last_sent_ < kHeartbeat) return;
    last_sent_ = now;
  }
  transaction_->send(": heartbeat\n\n");
}

void Call::send_event(std::string_view data, std::string_view name) {
  if (name.empty())
    transaction_->send(fmt::format("data: {}\n\n", data));
  else
    transaction_->send(fmt::format("event: {}\ndata: {}\n\n", name, data));
  const MutexLock lock(mutex_);
  last_sent_ = Clock::now();
}

void Call::send_json_event(const nlohmann::ordered_json& data, std::string_view name) {
  send_event(dump_json(data, {.replace_invalid = true}), name);
}

void Call::begin_lines() {
  sends_lines_ = true;
  transaction_->begin(with_ignored_fields({.content_type = "application/x-ndjson", .body = ""}));
}

void Call::send_json_line(const nlohmann::ordered_json& value) {
  transaction_->send(dump_json(value, {.replace_invalid = true}) + '\n');
}

void Call::fail(const ApiError& error) {
  {
    const MutexLock lock(mutex_);
    statistics_.error = error.what();
    statistics_.error_code = error.code.empty() ? error.type : error.code;
  }
  if (transaction_->responded()) {
    if (sends_lines_)
      transaction_->send(error_body.load()(error) + '\n');
    else
      send_event(error_body.load()(error), error_event);
    end_events();
  } else {
    respond(response_of(error, error_body));
  }
}

void Call::cancel() {
  std::function<void()> function;
  {
    const MutexLock lock(mutex_);
    cancelled_ = true;
    function = std::exchange(on_cancel_, nullptr);
  }
  if (function) function();
}

void Call::on_cancel(std::function<void()> function) {
  {
    const MutexLock lock(mutex_);
    if (!cancelled_) {
      on_cancel_ = std::move(function);
      return;
    }
  }
  function();
}

void Call::enqueue(Admission& admission, int64_t tokens) {
  {
    const MutexLock lock(mutex_);
    if (statistics_.started) {
      admission.leave(0, -tokens);
      waiting_tokens_ += tokens;
      return;
    }
  }
  admission.enter(tokens);
  const MutexLock lock(mutex_);
  admission_ = &admission;
  waiting_tokens_ = tokens;
  statistics_.input_tokens = tokens;
}

void Call::part_started(int64_t tokens) {
  const MutexLock lock(mutex_);
  if (admission_) {
    admission_->leave(statistics_.started ? 0 : 1, tokens);
    waiting_tokens_ -= tokens;
  }
  if (!statistics_.started) statistics_.started = Clock::now();
}

void Call::tokens_generated(int64_t tokens) {
  if (tokens == 0) return;
  if (on_tokens) on_tokens(tokens);
  std::optional<double> interval;
  {
    const MutexLock lock(mutex_);
    const auto now = Clock::now();
    statistics_.output_tokens += tokens;
    if (!statistics_.first_token) statistics_.first_token = now;
    if (statistics_.last_token)
      interval = std::chrono::duration<double>(now - *statistics_.last_token).count();
    statistics_.last_token = now;
  }
  if (interval && on_token_interval) on_token_interval(*interval);
}

bool Call::is_prefilling() const {
  const MutexLock lock(mutex_);
  return statistics_.started && !statistics_.first_token;
}

Call::Statistics Call::statistics() const {
  const MutexLock lock(mutex_);
  return statistics_;
}

void Call::set_model(std::string name) {
  const MutexLock lock(mutex_);
  statistics_.model = std::move(name);
}

void Call::ignored(const std::string& field) {
  constexpr size_t kMostFields = 20, kMostBytes = 64;
  const auto is_of_names = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("_-.[]").find(c) != std::string_view::npos;
  };
  std::string name = field.substr(0, kMostBytes);
  std::ranges::replace_if(
      name, [&](char c) { return !is_of_names(c); }, '?');
  const MutexLock lock(mutex_);
  if (statistics_.ignored_fields.size() == kMostFields) return;
  statistics_.ignored_fields.push_back(std::move(name));
}

void Call::set_ignored_keywords(std::vector<std::string> keywords) {
  const MutexLock lock(mutex_);
  statistics_.ignored_keywords = std::move(keywords);
}

}  // namespace heed::serve
