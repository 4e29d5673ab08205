#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/mutex.h"
#include "heed/serve/http/message.h"
#include "heed/serve/services.h"
#include "heed/server.h"

namespace heed::serve {

/// Checks who may use the server: API keys, and pages of other origins (CORS). May be used by any
/// thread.
class Access {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Access(const ServerOptions& options);

  /// The key of a request: "Authorization: Bearer KEY", or "x-api-key: KEY" as Anthropic's clients
  /// have it; null if the route or the server needs none. Throws ApiError 401 unless the request
  /// has one of the keys, and 403 if the route needs one that may manage models. The time that this
  /// takes does not depend on how much of a key is right.
  const ApiKey* check_key(const HttpRequest& request, const Route& route) const;
  /// Counts a request of a key. Throws ApiError 429 when there were too many in the last minute.
  void count_request(const ApiKey& key, Clock::time_point now = Clock::now());

  /// Headers that let the page of an allowed origin read the answer.
  std::vector<std::pair<std::string, std::string>> cors_headers(const HttpRequest& request) const;
  /// Whether a browser asks if a page may send a request.
  bool is_preflight(const HttpRequest& request) const;
  /// The answer: whatever headers the page wants to send are allowed.
  static HttpResponse preflight(const HttpRequest& request);

 private:
  /// Requests that a key may still send: it is refilled as time passes.
  struct Allowance {
    double requests;
    Clock::time_point at;
  };
  bool allows(std::string_view origin) const;

  std::vector<ApiKey> keys_;
  Mutex mutex_;
  std::vector<Allowance> allowances_ HEED_GUARDED_BY(mutex_);  // of each key
  const std::vector<std::string> origins_;
};

}  // namespace heed::serve
