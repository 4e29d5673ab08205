#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/export.h"
#include "heed/load_options.h"
#include "heed/model.h"
#include "heed/server_limits.h"

namespace heed {

/// Limits of the requests of a served model; see SessionOptions.
struct BatchingOptions {
  int64_t max_active_tokens = 65'536;  // prompts and outputs of the requests that run
  int64_t max_active_requests = 64;    // that run at a time
  int64_t max_cached_tokens = 16'384;  // of ended requests, for prompts that begin like theirs
  int64_t max_prefill_tokens = 512;    // of prompts in one step
  bool operator==(const BatchingOptions&) const = default;
};

/// A model to serve.
struct ModelSource {
  std::string name = {};  // by which requests choose it
  /// Further names by which requests choose it; "*": any name that no model has.
  std::vector<std::string> aliases = {};
  std::string path = {};  // directory, GGUF file or name of the hub
  /// How `path` is loaded. Adapters are further models, by their names, which must be given; the
  /// model itself is served without them.
  LoadOptions load = {};
  BatchingOptions batching = {};  // of its requests
  bool on_first_use = false;      // load it when a request names it
  /// The languages of a translator whose files do not name them; empty: not known.
  std::string source_language = {}, target_language = {};
  /// A file for read_embedding_ranges(), by which int8 and uint8 vectors of an embedder are scaled;
  /// empty: there are no such vectors.
  std::filesystem::path embedding_ranges = {};
  /// A model that is loaded already, with its adapters: instead of `path` and `load`.
  std::optional<Model> model = {};

  bool operator==(const ModelSource&) const = default;
};

/// What happens to a field of a request that its route does not know. One that is at most two
/// letters from a known field is misspelt, and always refused.
enum class UnknownFields {
  ignore,  // it is named in the header X-Heed-Ignored of the response and in the log
  refuse
};

/// "ignore" or "refuse".
constexpr std::string_view name_of(UnknownFields unknown_fields) {
  switch (unknown_fields) {
    case UnknownFields::ignore:
      return "ignore";
    case UnknownFields::refuse:
      return "refuse";
  }
  return "?";
}

/// An API key with a name and what it may do.
struct ApiKey {
  std::string name = {};            // of its requests in the log and the metrics; empty: not named
  std::string key = {};             // that requests send
  int64_t requests_per_minute = 0;  // to models; beyond it they are refused with 429; 0: no limit
  int priority = 0;                 // of requests that wait, the highest are computed first
  bool manage = false;              // it may load and unload models
  bool operator==(const ApiKey&) const = default;
};

/// How a Server listens, what it serves, and its limits.
struct ServerOptions {
  std::string host = "127.0.0.1";        // an address, or "localhost"
  int port = 8080;                       // 0: the system chooses one
  HttpLimits http = {};                  // of connections
  QueueLimits queue = {};                // of what waits
  std::vector<ModelSource> models = {};  // a single one need not be named by requests
  /// Bytes of the files of models; 0: no limit. Beyond it, models that were loaded on first use and
  /// have nothing to do are unloaded, the one unused for longest first. Models that were given
  /// loaded do not count.
  uint64_t memory_limit = 0;
  /// Requests need one of these, or of `named_keys`, as "Authorization: Bearer KEY" or "x-api-key:
  /// KEY"; if there is none, no key is needed.
  std::vector<std::string> api_keys = {};
  std::vector<ApiKey> named_keys = {};  // keys with names
  /// Pages of these origins may call the server ("https://example.com", or "*" for all).
  std::vector<std::string> cors_origins = {};
  /// Of requests that sample and have no seed; none: another one for each, which the answer names.
  std::optional<uint64_t> seed = {};
  UnknownFields unknown_fields = UnknownFields::ignore;  // of requests
  /// How long a request may take that has no X-Request-Timeout.
  std::chrono::milliseconds request_time{600'000};
  /// Receives a line of JSON for each request, without a line end. Called on the network thread,
  /// which waits for it. Must not throw.
  std::function<void(const std::string&)> log = {};
  bool log_texts = false;  // with the bodies of requests
  bool log_health = true;  // also those to /health and /metrics
  /// Receives the warnings of each model that is loaded (Model::warnings()), one a call, with the
  /// name of the model before it. Called on the thread that loads. Must not throw. If it is not
  /// given, `log` receives them, as lines of JSON with "model" and "warning".
  std::function<void(const std::string&)> warn = {};
};

/// The server of `heed serve` (docs/serving.md), in this process: HTTP with OpenAI's API,
/// translation, embeddings and a page, on threads of its own.
///
///   heed::Server server({.port = 0, .models = {{.name = "chat", .path = "model.gguf"}}});
///   server.listen();
///   server.load();
///   std::cout << server.port() << '\n';
///
/// A request has the answer that the functions of Model and Session give, to the bit. All models
/// compute in turn on one thread, which uses their Executor. A Server belongs to one thread at a
/// time. In a forked child it does not serve: there its functions throw Error, and its destructor
/// only closes the port.
class HEED_EXPORT Server {
 public:
  /// Throws Error when a limit is out of range.
  explicit Server(ServerOptions options);
  /// Ends all connections and requests.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Listens; until load() has returned, GET /health is answered with 503. Throws Error, which
  /// names the address, when that is not possible.
  void listen();
  /// The port, once it listens.
  uint16_t port() const;
  /// Loads the models, but for those that are loaded on first use. Throws Error, which names the
  /// model, when one cannot be loaded or two have the same name.
  void load();
  /// Serves these models from now on. Those that are served already from the same source stay
  /// loaded; others end when their requests have ended. Throws as load(); nothing has changed then.
  void reload(const std::vector<ModelSource>& models);
  /// For how long the thread on which models compute has been at the same part of its work, which
  /// normally takes milliseconds; 0 if it has none. May be called by any thread, for a watchdog.
  std::chrono::milliseconds busy_for() const;
  /// Accepts no more requests, and waits for those that are being answered, at most `time`. Returns
  /// whether all have ended. An InterruptScope ends the wait.
  bool drain(std::chrono::milliseconds time);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heed
