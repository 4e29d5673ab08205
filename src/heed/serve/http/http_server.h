#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "heed/serve/http/message.h"
#include "heed/serve/http/transaction.h"
#include "heed/server_limits.h"

namespace heed::serve {

struct HttpServerOptions {
  std::string host = "127.0.0.1";  // an address, or "localhost"
  int port = 8080;                 // 0: the system chooses one
  HttpLimits limits = {};
  /// Responds to a transaction, now or later. Called on the network thread, so it must return soon.
  std::function<void(const std::shared_ptr<HttpTransaction>&)> handle = {};
  /// Makes the response to what is not a request, or a larger one than the limits allow. `request`
  /// has what was read of it. Called on the network thread.
  std::function<HttpResponse(int status, std::string_view message, const HttpRequest& request)>
      error = {};
  /// Called on the network thread after the last byte of a response was written, or the client has
  /// disconnected (HttpTransaction::disconnected()).
  std::function<void(const HttpTransaction&)> finished = {};
  /// Called on the network thread ten times a second.
  std::function<void()> tick = {};
};

/// Accepts connections and reads and writes HTTP/1.1 on one thread of its own. It knows neither
/// models nor routes.
class HttpServer {
 public:
  explicit HttpServer(HttpServerOptions options);
  ~HttpServer();

  /// Listens, and starts the thread. Throws Error, which names the address, when that is not
  /// possible.
  void start();
  /// Closes all connections and ends the thread. Transactions may be used as long as this exists.
  void stop();

  uint16_t port() const;
  /// The connections that are open.
  int64_t connections() const;
  /// Connections that were closed at once, because too many were open.
  int64_t refused_connections() const;

  /// Closes the port in a forked child, which has no network thread.
  void close_inherited_port();

  /// Closes connections that wait for a request, and all others after their response. New ones may
  /// send one request, so that a load balancer can ask for /health until the end.
  void drain();
  /// Whether connections are left within `time` after drain().
  bool wait_until_drained(std::chrono::milliseconds time);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace heed::serve
