#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/mutex.h"
#include "heed/serve/admission.h"
#include "heed/serve/api_error.h"
#include "heed/serve/http/transaction.h"

namespace heed::serve {

/// A client's request from its arrival to the end of its response, with the numbers for metrics and
/// the log. May be used by any thread.
class Call {
 public:
  using Clock = std::chrono::steady_clock;

  Call(std::shared_ptr<HttpTransaction> transaction, std::string route);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const HttpRequest& request() const { return transaction_->request(); }
  HttpTransaction& transaction() { return *transaction_; }
  const std::string& route() const { return route_; }

  /// Responds. Only the first response counts.
  void respond(HttpResponse response);
  void respond_json(const nlohmann::ordered_json& body);
  /// Begins a response of server-sent events, unless it has begun.
  void begin_events();
  /// Sends an event; `data` is one line. With a name, "event: name" stands before it.
  void send_event(std::string_view data, std::string_view name = {});
  void send_json_event(const nlohmann::ordered_json& data, std::string_view name = {});
  void end_events() { transaction_->end(); }
  /// Sets what accepted() calls: it begins a response in parts.
  void on_accepted(std::function<void()> function) { on_accepted_ = std::move(function); }
  /// The work waits for its turn: what a client could correct has been found. A client of a stream
  /// gets its headers now, so that it does not give up before the first token. Calls the function
  /// of on_accepted(), once.
  void accepted();
  /// Sends a comment, which clients skip, if the events have been silent for this time before
  /// `now`: proxies end such connections.
  static constexpr std::chrono::seconds kHeartbeat{15};
  void send_heartbeat(Clock::time_point now);
  /// Begins a response of JSON values, each on a line of its own, unless it has begun.
  void begin_lines();
  void send_json_line(const nlohmann::ordered_json& value);
  void end_lines() { transaction_->end(); }
  /// Responds with an error, or sends it as the last event or line.
  void fail(const ApiError& error);

  /// Cancels the work for this call: nobody waits for its response any more. Calls the function of
  /// on_cancel(), once.
  void cancel();
  bool cancelled() const { return cancelled_; }
  /// Sets what cancel() calls, on any thread. Calls it at once if the call is cancelled already.
  void on_cancel(std::function<void()> function);

  /// Counts the call in `admission` with its tokens of input. Throws ApiError as
  /// Admission::enter(), but for a second part of the work: a call that has started goes on.
  void enqueue(Admission& admission, int64_t tokens);
  /// Notes that a part of the work starts: so many tokens of input wait no longer.
  void part_started(int64_t tokens);
  /// Counts generated tokens.
  void tokens_generated(int64_t tokens);

  /// Whether the input is being computed and there is no token of output yet.
  bool is_prefilling() const;

  /// The numbers for metrics and the log; consistent once the call has ended.
  struct Statistics {
    std::string model;
    int64_t input_tokens = 0, output_tokens = 0;
    Clock::time_point arrived = Clock::now();
    std::optional<Clock::time_point> started, first_token;
    std::optional<Clock::time_point> last_token;
    std::string error;                          // what fail() said
    std::string error_code;                     // and the code of it, or its type
    std::vector<std::string> ignored_keywords;  // of the JSON Schema of the output
    std::vector<std::string> ignored_fields;    // of the request
  };
  Statistics statistics() const;
  void set_model(std::string name);
  /// Names a field of the request that is ignored, in X-Heed-Ignored of the response that follows
  /// and in the log.
  void ignored(const std::string& field);
  void set_ignored_keywords(std::vector<std::string> keywords);
  /// Writes the body of an error response. A route that has several forms sets it.
  std::atomic<ErrorBody> error_body = serve::error_body;
  /// The name of the event with which fail() ends a stream; empty: it has none.
  std::string_view error_event = {};
  /// Set before the work begins.
  Clock::time_point deadline = Clock::time_point::max();
  std::string key_name = {};  // of the API key; empty: none, or one without a name
  int priority = 0;           // of that key
  bool uses_model = false;    // its route does
  /// Receives the number of tokens that were generated, as they are.
  std::function<void(int64_t)> on_tokens = {};
  /// Receives the time between two successive tokens, in seconds.
  std::function<void(double)> on_token_interval = {};

 private:
  HttpResponse with_ignored_fields(HttpResponse response) const;

  const std::shared_ptr<HttpTransaction> transaction_;
  const std::string route_;
  std::atomic<bool> cancelled_ = false;
  std::function<void()> on_accepted_;
  std::atomic<bool> sends_lines_ = false;
  mutable Mutex mutex_;
  std::function<void()> on_cancel_ HEED_GUARDED_BY(mutex_);
  Statistics statistics_ HEED_GUARDED_BY(mutex_);
  std::optional<Clock::time_point> last_sent_ HEED_GUARDED_BY(mutex_);  // of the events
  Admission* admission_ HEED_GUARDED_BY(mutex_) = nullptr;              // while it waits there
  int64_t waiting_tokens_ HEED_GUARDED_BY(mutex_) = 0;
};

}  // namespace heed::serve
