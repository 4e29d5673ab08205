#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "heed/hub.h"
#include "heed/hub/response_head.h"

namespace heed::hub {

/// A GET request.
struct Request {
  std::string url;
  std::string token;    // sent to the URL's host and port only, not to where it redirects to
  uint64_t offset = 0;  // of the first byte that is wanted
  /// Receives the head and then the body, in parts, of a response with status 200 or 206. An
  /// exception ends the request and leaves Http::step().
  std::function<void(const ResponseHead&)> begin;
  std::function<void(std::string_view)> receive;
};

/// How a request ended.
enum class Outcome : uint8_t {
  complete,
  refused,      // by the status of the response
  broken_off,   // before the end; the rest may come next time
  unreachable,  // no connection, or no trusted one
  invalid,      // a response that would not be better next time
};

struct Response {
  Outcome outcome = Outcome::complete;
  ResponseHead head;
  std::string problem;  // for a message; empty when complete
};

/// Several requests at once, on the calling thread, by libcurl. Redirects are followed, at most 5
/// and never from https to http; certificates are checked, and the proxy of the environment is
/// used. A head of more than 256 kB and a connection that stalls (HubTimeouts) are problems.
class Http {
 public:
  /// Throws Error when libcurl is missing.
  explicit Http(const HubTimeouts& timeouts);
  /// Ends all requests.
  ~Http();
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;

  /// `id` must not be the id of a running request.
  void start(size_t id, Request request);
  size_t running() const { return transfers_.size(); }

  /// Sends and receives for at most `wait`, and calls ended(id, response) for each request that has
  /// ended; it may start others.
  void step(std::chrono::milliseconds wait, const std::function<void(size_t, Response)>& ended);

 private:
  class Transfer;

  const HubTimeouts timeouts_;
  void* multi_;
  std::map<size_t, std::unique_ptr<Transfer>> transfers_;
};

}  // namespace heed::hub
