#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "heed/base/mutex.h"
#include "heed/serve/admission.h"
#include "heed/serve/api_error.h"
#include "heed/serve/http/transaction.h"

namespace heed::serve {

/// A request of a client from its arrival to the end of its answer, with what metrics and the log
/// say of it. May be used by any thread.
class Call {
 public:
  using Clock = std::chrono::steady_clock;

  Call(std::shared_ptr<HttpTransaction> exchange, std::string route);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const HttpRequest& request() const { return exchange_->request(); }
  HttpTransaction& exchange() { return *exchange_; }
  const std::string& route() const { return route_; }

  /// Answers; of several answers the first one counts.
  void respond(HttpResponse response) { exchange_->respond(std::move(response)); }
  void respond_json(std::string body) { respond({.body = std::move(body)}); }
  /// Begins server-sent events, unless it has begun.
  void begin_events();
  /// An event; `data` is one line. With a name, "event: name" stands before it.
  void send_event(std::string_view data, std::string_view name = {});
  void end_events() { exchange_->end(); }
  /// Answers with an error, as the last event if events have begun.
  void fail(const ApiError& error);

  /// Nobody wants the answer any more: what computes it ends soon. Calls the function of
  /// on_cancel(), once.
  void cancel();
  bool cancelled() const { return cancelled_; }
  /// Called by cancel(), by any thread; at once if it was called already.
  void on_cancel(std::function<void()> function);

  /// The call waits in `admission` with so many tokens of input. Throws ApiError as
  /// Admission::enter().
  void enqueue(Admission& admission, int64_t tokens);
  /// A part of the work, with so many tokens of input, is being computed.
  void part_started(int64_t tokens);
  /// Tokens were generated.
  void tokens_generated(int64_t tokens);

  /// Whether its input is being computed, and has given no output yet.
  bool reads_input() const;

  /// What metrics and the log say; consistent once the call has ended.
  struct Statistics {
    std::string model;
    int64_t input_tokens = 0, output_tokens = 0;
    Clock::time_point arrived = Clock::now();
    std::optional<Clock::time_point> started, first_token;
    std::optional<Clock::time_point> last_token;
    std::string error;  // what fail() said
  };
  Statistics statistics() const;
  void set_model(std::string name);
  /// The body of an answer that is an error.
  ErrorBody error_body = serve::error_body;
  /// Set before the work begins.
  Clock::time_point deadline = Clock::time_point::max();
  /// Is told the time between two successive tokens, in seconds.
  std::function<void(double)> on_token_interval = {};

 private:
  const std::shared_ptr<HttpTransaction> exchange_;
  const std::string route_;
  std::atomic<bool> cancelled_ = false;
  mutable Mutex mutex_;
  std::function<void()> on_cancel_ HEED_GUARDED_BY(mutex_);
  Statistics statistics_ HEED_GUARDED_BY(mutex_);
  Admission* admission_ HEED_GUARDED_BY(mutex_) = nullptr;  // while it waits there
  int64_t waiting_tokens_ HEED_GUARDED_BY(mutex_) = 0;
};

}  // namespace heed::serve
