#include <mutex>
#include <optional>

#include "capi/model.h"
#include "capi/options.h"
#include "heed/c_serve.h"
#include "heed/serve/check_options.h"
#include "heed/serve/server_options.h"
#include "heed/server.h"

namespace heed::capi {

HEED_C_MEMBERS(heed_server_options, ServerOptions, HEED_SERVER_OPTIONS)
HEED_C_MEMBERS(heed_server_options, HttpLimits, HEED_HTTP_LIMITS)
HEED_C_OPTIONS(heed_served_model, BatchingOptions, HEED_BATCHING_OPTIONS)

template <>
heed_server_options defaults<heed_server_options>() {
  const ServerOptions built_in;
  heed_server_options options{};
  write_options(built_in, options);
  write_options(built_in.http, options);
  options.queued_requests = built_in.queue.requests;
  options.queued_tokens = built_in.queue.tokens;
  return options;
}

namespace {

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
  require_argument(from.connections <= INT32_MAX, "connections is {}, expected at most {}",
                   from.connections, INT32_MAX);
  ServerOptions options;
  read_options(from, options);
  if (!from.has_seed) options.seed.reset();
  read_options(from, options.http);
  options.api_keys = texts_of(from.api_keys, from.api_key_count, "api_keys");
  options.cors_origins = texts_of(from.cors_origins, from.cors_origin_count, "cors_origins");
  options.queue = {.requests = from.queued_requests, .tokens = from.queued_tokens};
  if (from.log)
    options.log = [from](const std::string& line) { from.log(from.user_data, string_of(line)); };
  return options;
}

ModelSource source_of(const heed_served_model& from) {
  require_pointer(from.name, "the name of a model");
  return {.name = from.name,
          .batching = options_of(from),
          .source_language = text_or_empty(from.source_language),
          .target_language = text_or_empty(from.target_language),
          .embedding_ranges = text_or_empty(from.embedding_ranges),
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
    require_argument(milliseconds >= 0 && milliseconds <= heed::serve::kLongestTime,
                     "milliseconds is {}, expected 0 to {}", milliseconds,
                     heed::serve::kLongestTime);
    *completed = !use->server || use->server->drain(std::chrono::milliseconds(milliseconds));
    use->server.reset();
  });
}

HEED_DEFINE_FREE(heed_server)
