#include <mutex>
#include <optional>

#include "capi/model.h"
#include "capi/sized.h"
#include "heed/c_serve.h"
#include "heed/serve/check_options.h"
#include "heed/server.h"

namespace heed::capi {

template <>
heed_server_options defaults<heed_server_options>() {
  const ServerOptions built_in;
  heed_server_options options{};
  options.port = built_in.port;
  options.queued_requests = built_in.queue.requests;
  options.queued_tokens = built_in.queue.tokens;
  options.connections = built_in.http.connections;
  options.header_bytes = static_cast<int64_t>(built_in.http.header_bytes);
  options.body_bytes = static_cast<int64_t>(built_in.http.body_bytes);
  options.request_time = built_in.request_time.count();
  options.idle_time = built_in.http.idle_time.count();
  options.header_time = built_in.http.header_time.count();
  options.body_time = built_in.http.body_time.count();
  options.write_time = built_in.http.write_time.count();
  return options;
}

template <>
heed_served_model defaults<heed_served_model>() {
  const BatchingOptions built_in;
  heed_served_model model{};
  model.max_active_tokens = built_in.max_active_tokens;
  model.max_active_requests = built_in.max_active_requests;
  model.max_cached_tokens = built_in.max_cached_tokens;
  model.max_prefill_tokens = built_in.max_prefill_tokens;
  return model;
}

namespace {

constexpr int64_t kLongestDrain = 10'000'000'000;  // ms

/// A server, which has its models when it starts.
struct GuardedServer {
  ServerOptions options;
  std::optional<Server> server = {};
  std::mutex mutex = {};
};

}  // namespace

template <>
struct HandleOf<heed_server> {
  using Object = GuardedServer;
  static constexpr const char* kName = "server";
};

namespace {

/// The server of a handle while this thread uses it. Throws StatusError when another one does.
class LockedServer {
 public:
  explicit LockedServer(const heed_server* handle)
      : object_(object_of(handle)), lock_(lock_or_busy(object_->mutex, "server")) {}

  GuardedServer* operator->() const { return object_.get(); }

  Server& running() const {
    if (!object_->server) throw Error("the server does not run");
    return *object_->server;
  }

 private:
  std::shared_ptr<GuardedServer> object_;
  std::unique_lock<std::mutex> lock_;
};

ServerOptions server_options(const heed_server_options& from) {
  using std::chrono::milliseconds;
  ServerOptions options;
  if (from.host) options.host = from.host;
  options.port = from.port;
  options.log_texts = from.log_texts != 0;
  options.api_keys = texts_of(from.api_keys, from.api_key_count, "api_keys");
  options.cors_origins = texts_of(from.cors_origins, from.cors_origin_count, "cors_origins");
  options.queue = {.requests = from.queued_requests, .tokens = from.queued_tokens};
  HttpLimits& http = options.http;
  require_argument(from.connections <= INT32_MAX, "connections is {}, expected at most {}",
                   from.connections, INT32_MAX);
  http.connections = static_cast<int>(from.connections);
  http.header_bytes = static_cast<size_t>(from.header_bytes);
  http.body_bytes = static_cast<size_t>(from.body_bytes);
  options.request_time = milliseconds(from.request_time);
  http.idle_time = milliseconds(from.idle_time);
  http.header_time = milliseconds(from.header_time);
  http.body_time = milliseconds(from.body_time);
  http.write_time = milliseconds(from.write_time);
  if (from.log)
    options.log = [from](const std::string& line) { from.log(from.user_data, string_of(line)); };
  return options;
}

ModelSource source_of(const heed_served_model& from) {
  require_pointer(from.name, "the name of a model");
  return {.name = from.name,
          .batching = {.max_active_tokens = from.max_active_tokens,
                       .max_active_requests = from.max_active_requests,
                       .max_cached_tokens = from.max_cached_tokens,
                       .max_prefill_tokens = from.max_prefill_tokens},
          .source_language = text_or_empty(from.source_language),
          .target_language = text_or_empty(from.target_language),
          .model = model_of(from.model)};
}

}  // namespace
}  // namespace heed::capi

using namespace heed::capi;

HEED_DEFINE_INIT(heed_server_options)

HEED_DEFINE_INIT(heed_served_model)

heed_status heed_server_create(const heed_server_options* options, heed_server** server,
                               heed_error* error) {
  return run(error, [&] {
    require_output(server, "server");
    auto object = std::make_shared<GuardedServer>(server_options(read_sized(options)));
    heed::serve::check_options(object->options);
    set_handle(server, std::move(object));
  });
}

heed_status heed_server_add_model(heed_server* server, const heed_served_model* model,
                                  heed_error* error) {
  return run(error, [&] {
    const LockedServer use(server);
    require_pointer(model, "model");
    if (use->server) throw heed::Error("the server runs already: models are added before");
    use->options.models.push_back(source_of(read_sized(model, "model")));
  });
}

heed_status heed_server_start(heed_server* server, heed_error* error) {
  return run(error, [&] {
    const LockedServer use(server);
    if (use->server) throw heed::Error("the server runs already");
    use->server.emplace(use->options);
    try {
      use->server->listen();
      use->server->load();
    } catch (...) {
      use->server.reset();
      throw;
    }
  });
}

heed_status heed_server_port(heed_server* server, int32_t* port, heed_error* error) {
  return run(error, [&] {
    const LockedServer use(server);
    require_pointer(port, "port");
    *port = use.running().port();
  });
}

heed_status heed_server_stop(heed_server* server, int64_t milliseconds, int32_t* completed,
                             heed_error* error) {
  return run(error, [&] {
    const LockedServer use(server);
    require_pointer(completed, "completed");
    require_argument(milliseconds >= 0 && milliseconds <= kLongestDrain,
                     "milliseconds is {}, expected 0 to {}", milliseconds, kLongestDrain);
    *completed = !use->server || use->server->drain(std::chrono::milliseconds(milliseconds));
    use->server.reset();
  });
}

HEED_DEFINE_FREE(heed_server)
