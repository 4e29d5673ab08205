#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heed/serve/admission.h"
#include "heed/serve/http/http_server.h"
#include "heed/serve/model_registry.h"

namespace heed::serve {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 8080;  // 0: the system chooses one
  HttpLimits http = {};
  QueueLimits queue = {};
  std::vector<ModelSource> models = {};
  uint64_t memory_limit = 0;  // bytes of models; 0: none
  /// Requests need one of these as "Authorization: Bearer KEY"; empty: none is needed.
  std::vector<std::string> api_keys = {};
  /// Pages of these origins may call the server ("https://example.com", or "*" for all).
  std::vector<std::string> cors_origins = {};
  /// How long a request may take that has no X-Request-Timeout.
  std::chrono::milliseconds request_time{600'000};
  /// Receives a line of JSON for each request, without a line end. Called on the network thread.
  std::function<void(const std::string&)> log = {};
  bool log_texts = false;  // with the bodies of requests
};

/// The server: models, routes and connections.
class Server {
 public:
  explicit Server(ServerOptions options);
  /// Ends all connections and requests.
  ~Server();

  /// Listens; until load() has returned, GET /health is answered with 503. Throws Error when that
  /// is not possible.
  void listen();
  /// The port, once it listens.
  uint16_t port() const;
  /// Loads the models. Throws Error when one cannot be loaded.
  void load();
  /// Serves these models from now on, as ModelRegistry::serve(). Requests are not interrupted.
  void reload(const std::vector<ModelSource>& models);
  /// Accepts no more requests, and waits for those that are being answered, at most `time`. Returns
  /// whether all have ended.
  bool drain(std::chrono::milliseconds time);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace heed::serve
