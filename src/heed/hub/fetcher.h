#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/hub.h"
#include "heed/hub/http.h"

namespace heed::hub {

/// HubOptions::cancelled returned true.
class Cancelled : public Error {
 public:
  using Error::Error;
};

/// A request failed for good.
class RequestError : public Error {
 public:
  RequestError(const std::string& message, Response why)
      : Error(message), response(std::move(why)) {}

  Response response;
};

/// Something that a Fetcher fetches.
class Task {
 public:
  enum class Readiness : uint8_t { ready, waiting, done };

  virtual ~Task() = default;

  /// For messages: "config.json of OWNER/NAME".
  virtual std::string name() const = 0;
  virtual std::string url() const = 0;
  /// Whether it can be requested now, another process is at it, or there is nothing to request.
  virtual Readiness prepare() { return Readiness::ready; }
  /// Bytes that are there; the next request asks for those that follow.
  virtual uint64_t size() const = 0;
  virtual void begin(const ResponseHead& head) = 0;
  virtual void receive(std::string_view bytes) = 0;
  /// After the whole response: the empty text, or why to request again what is missing. Throws
  /// Error if that would not help.
  virtual std::string finish() = 0;
};

/// Runs Tasks, up to 4 at a time on the calling thread. Requests that break off, stall or are
/// refused for a moment (429, 5xx) are repeated as HubTimeouts says.
class Fetcher {
 public:
  /// `options` must outlive it.
  Fetcher(std::string token, const HubOptions& options);

  /// Returns when all are finished. `tick` is called between events, about ten times a second or
  /// more; `waiting` says that nothing is requested because other processes are at it. Throws
  /// RequestError, Cancelled, Interrupted, and what tasks throw.
  void run(const std::vector<std::unique_ptr<Task>>& tasks,
           const std::function<void(bool waiting)>& tick);

  /// Throws Cancelled or Interrupted if the caller has cancelled.
  void poll() const;

 private:
  using Clock = std::chrono::steady_clock;

  struct State {
    Task* task;
    enum class Phase : uint8_t { pending, running, done } phase = Phase::pending;
    int failures = 0;
    uint64_t size_before = 0;
    Clock::time_point next_start = Clock::time_point::min();
  };

  /// Starts what can start; returns whether all that are left wait for other processes.
  bool start_pending(std::vector<State>& states);
  void start(size_t id, State& state);
  void end(State& state, const Response& response);
  void schedule_retry(State& state, const Response& response);

  const std::string token_;
  const HubOptions& options_;
  Http http_;
  bool reached_ = false;
};

}  // namespace heed::hub
