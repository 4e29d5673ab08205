#include "heed/server.h"

#include <unistd.h>

#include <atomic>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/mutex.h"
#include "heed/base/quote.h"
#include "heed/serve/access.h"
#include "heed/serve/check_options.h"
#include "heed/serve/compute_loop.h"
#include "heed/serve/http/http_server.h"
#include "heed/serve/operations/history.h"
#include "heed/serve/operations/metrics.h"
#include "heed/serve/operations/process_numbers.h"
#include "heed/serve/operations/request_log.h"
#include "heed/serve/operations/trace_context.h"
#include "heed/serve/preprocessing_pool.h"
#include "heed/serve/routes/routes.h"
#include "heed/serve/services.h"

namespace heed {

using namespace serve;

namespace {

constexpr int kClientClosedRequest = 499;  // nginx's
/// How often drain() asks whether it is interrupted.
constexpr std::chrono::milliseconds kDrainStep{50};

/// Whether the key of a request stands in its body, which is read later.
bool takes_key_of_body(const Route& route, const HttpRequest& request) {
  return route.key_in_body && request.header("authorization").empty() &&
         request.header("x-api-key").empty();
}

/// A request with the key of a body where others have it.
HttpRequest with_key_of_body(const Json& body) {
  HttpRequest request;
  const std::string key = JsonFields(body).text("api_key").value_or("");
  request.headers.emplace_back("authorization", "Bearer " + key);
  return request;
}

}  // namespace

struct Server::State {
  explicit State(ServerOptions given)
      : options(std::move(given)),
        admission(options.queue),
        http(http_options()),
        access(options),
        models(loop, options.memory_limit,
               [this](const std::string& name, const Model& model) { loaded(name, model); }) {}

  HttpServerOptions http_options();
  void handle(const std::shared_ptr<HttpTransaction>& transaction);
  void check_key(const HttpRequest& request, const Route& route, Call& call);
  void start(const Route& route, const std::shared_ptr<Call>& call);
  void read(const Route& route, const std::shared_ptr<Call>& call);
  HttpResponse refuse(int status, std::string_view message, const HttpRequest& request);
  void tick();
  void add_to_history(Call::Clock::time_point now);
  void finished(const HttpTransaction& transaction);
  void loaded(const std::string& name, const Model& model);
  void warn(const std::string& model, const std::string& warning);
  void log(const std::string& line);
  bool is_forked() const { return getpid() != process; }
  void require_own_process() const {
    require(!is_forked(), "the server runs in another process, of which this one is a fork");
  }

  const pid_t process = getpid();
  const ServerOptions options;
  Mutex log_mutex;
  Admission admission;
  Metrics metrics;
  std::atomic<bool> ready = false, draining = false;
  HttpServer http;  // transactions need it until the end
  PreprocessingPool preprocessing;
  // Of the network thread:
  std::unordered_map<const HttpTransaction*, std::shared_ptr<Call>> calls;
  Access access;
  History history;
  TranslatedFiles translated_files;
  ComputeLoop loop;
  ModelRegistry models;
  Services services{models, admission, metrics,          options,
                    http,   history,   translated_files, [this] { return ready && !draining; }};
};

HttpServerOptions Server::State::http_options() {
  return {.host = options.host,
          .port = options.port,
          .limits = options.http,
          .handle =
              [this](const std::shared_ptr<HttpTransaction>& transaction) { handle(transaction); },
          .error = [this](int status, std::string_view message,
                          const HttpRequest& request) { return refuse(status, message, request); },
          .finished = [this](const HttpTransaction& transaction) { finished(transaction); },
          .tick = [this] { tick(); }};
}

void Server::State::handle(const std::shared_ptr<HttpTransaction>& transaction) {
  const HttpRequest& request = transaction->request();
  const Route* route = find_route(request.method, request.path);
  auto call = std::make_shared<Call>(transaction, route ? route->path : "other");
  if (route && route->error_body) call->error_body = route->error_body;
  if (route && route->error_event) call->error_event = route->error_event;
  calls.emplace(transaction.get(), call);
  try {
    for (auto& header : access.cors_headers(request)) transaction->add_header(std::move(header));
    if (const auto trace = trace_context_of(request))
      transaction->add_header({"traceparent", std::string(trace->header)});
    if (access.is_preflight(request)) return call->respond(Access::preflight(request));
    if (!route) throw unknown_route(request.method, request.path);
    call->uses_model = route->with_model != nullptr;
    if (!takes_key_of_body(*route, request)) check_key(request, *route, *call);
    start(*route, call);
  } catch (...) {
    call->fail(current_error());
  }
}

/// Notes whose request it is. Throws ApiError as Access does.
void Server::State::check_key(const HttpRequest& request, const Route& route, Call& call) {
  const ApiKey* const key = access.check_key(request, route);
  if (!key) return;
  call.key_name = key->name;
  call.priority = key->priority;
  if (call.uses_model) access.count_request(*key);
}

void Server::State::start(const Route& route, const std::shared_ptr<Call>& call) {
  if (route.without_model) return route.without_model(services, *call);
  if (!services.ready())
    throw unavailable(draining ? "the server is shutting down" : "models are being loaded", 5);
  // Bodies that wait to be read take memory.
  admission.check_room(PreprocessingPool::is_long(*call) ? preprocessing.waiting_long() : 0);
  call->on_tokens = [this](int64_t tokens) { metrics.add_tokens(tokens); };
  const auto asked = timeout_of(call->request());
  call->deadline =
      Call::Clock::now() + std::min(options.request_time, asked.value_or(options.request_time));
  preprocessing.post(call, [this, &route, call] { read(route, call); });
}

/// On a thread of the preprocessing: finds the model and lets the route read the rest, later if the
/// model has to be loaded.
void Server::State::read(const Route& route, const std::shared_ptr<Call>& call) {
  const auto body = std::make_shared<const Json>(body_of(call->request()));
  if (takes_key_of_body(route, call->request())) check_key(with_key_of_body(*body), route, *call);
  std::string name = JsonFields(*body).text("model").value_or("");
  if (route.choose) name = route.choose(services, *body, std::move(name));
  call->set_model(name);
  const auto read_rest = [this, &route, call, body](const ModelRegistry::Target& target) {
    call->set_model(target.name);
    call->on_token_interval = [this, name = target.name, route = call->route()](double seconds) {
      metrics.add_token_interval(name, route, seconds);
    };
    route.with_model({services, call, target, *body});
  };
  const auto target = models.find_or_load(
      name,
      [this, call, read_rest](const ModelRegistry::Target& loaded) {
        preprocessing.post(call, [read_rest, loaded] { read_rest(loaded); });
      },
      [call](const ApiError& error) { call->fail(error); });
  if (target) read_rest(*target);
}

HttpResponse Server::State::refuse(int status, std::string_view message,
                                   const HttpRequest& request) {
  metrics.add_refusal(status);
  if (options.log) log(refusal_line(request, status, message));
  HttpResponse response = response_of({status, "invalid_request_error", std::string(message)});
  for (auto& header : access.cors_headers(request)) response.headers.push_back(std::move(header));
  return response;
}

/// Ends late calls, and lets streams that are silent be heard.
void Server::State::tick() {
  const auto now = Call::Clock::now();
  for (const auto& [transaction, call] : calls) {
    if (transaction->ended()) continue;
    call->send_heartbeat(now);
    if (now < call->deadline) continue;
    metrics.add_deadline();
    call->fail(deadline_exceeded());
    call->cancel();
  }
  if (history.due(now)) add_to_history(now);
}

void Server::State::add_to_history(Call::Clock::time_point now) {
  History::Gauges gauges{.queued_requests = admission.requests(),
                         .memory_bytes = process_numbers().resident_bytes};
  for (const ModelRegistry::Target& target : models.loaded())
    gauges.running_requests += target.model->stats().requests;
  history.add(now, metrics.take_interval(), gauges);
}

void Server::State::finished(const HttpTransaction& transaction) {
  const auto found = calls.find(&transaction);
  if (found == calls.end()) return;
  const std::shared_ptr<Call> call = found->second;
  calls.erase(found);
  if (transaction.disconnected()) call->cancel();
  const int status = transaction.disconnected() ? kClientClosedRequest : transaction.status();
  metrics.add(*call, status, models.known_name(call->statistics().model));
  const bool probe = call->route() == "/health" || call->route() == "/metrics";
  if (options.log && (options.log_health || !probe))
    log(log_line(*call, status, options.log_texts));
}

void Server::State::loaded(const std::string& name, const Model& model) {
  if (options.log && !model.gpu().empty()) log(device_line(name, model.gpu()));
  for (const std::string& warning : model.warnings()) warn(name, warning);
}

void Server::State::warn(const std::string& model, const std::string& warning) {
  if (options.warn) return options.warn(fmt::format("model {}: {}", quoted(model), warning));
  if (options.log) log(warning_line(model, warning));
}

/// Lines come from the network thread and from those that load.
void Server::State::log(const std::string& line) {
  const MutexLock lock(log_mutex);
  options.log(line);
}

Server::Server(ServerOptions options) {
  check_options(options);
  state_ = std::make_unique<State>(std::move(options));
}

Server::~Server() {
  State& s = *state_;
  if (s.is_forked()) {  // without the threads that the rest belongs to
    s.http.close_inherited_port();
    static_cast<void>(state_.release());
    return;
  }
  s.draining = true;
  s.http.stop();
  for (const auto& [transaction, call] : s.calls) call->cancel();
  s.preprocessing.stop();
}

void Server::listen() {
  state_->require_own_process();
  state_->http.start();
}

uint16_t Server::port() const { return state_->http.port(); }

void Server::load() {
  state_->require_own_process();
  state_->models.serve(state_->options.models);
  state_->ready = true;
}

void Server::reload(const std::vector<ModelSource>& models) {
  state_->require_own_process();
  try {
    state_->models.serve(models);
  } catch (...) {
    state_->metrics.add_reload(false);
    throw;
  }
  state_->metrics.add_reload(true);
}

std::chrono::milliseconds Server::busy_for() const { return state_->loop.busy_for(); }

bool Server::drain(std::chrono::milliseconds time) {
  state_->require_own_process();
  state_->draining = true;
  state_->http.drain();
  for (; time > kDrainStep; time -= kDrainStep) {
    if (state_->http.wait_until_drained(kDrainStep)) return true;
    check_interrupted();
  }
  return state_->http.wait_until_drained(time);
}

}  // namespace heed
