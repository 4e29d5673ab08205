#include "heed/session.h"

#include <exception>
#include <map>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/engine/engine_options.h"
#include "heed/engine/loaded_model.h"
#include "heed/engine/model_sizes.h"
#include "heed/engine/session_job.h"
#include "heed/engine/speculation.h"
#include "heed/generate/scheduler.h"
#include "heed/gpu/gpu.h"
#include "heed/interrupt.h"

namespace heed {
namespace {

/// On a GPU, keys and values get half of the memory that is free: passes, and models that are
/// loaded later, need the rest. Of that half, three quarters are for active requests.
SessionOptions fitted(const engine::LoadedModel& model, SessionOptions options) {
  const gpu::Gpu* const gpu = model.gpu();
  if (!gpu) return options;
  const DType dtype = engine::session_cache(model).dtype.value_or(model.activations());
  const int64_t rows = static_cast<int64_t>(gpu->free_bytes() / 2) /
                       engine::cache_bytes_per_token(*model.transformer, dtype);
  options.max_cached_tokens = std::min(options.max_cached_tokens, rows / 4);
  options.max_active_tokens = std::clamp<int64_t>(rows - rows / 4, 1, options.max_active_tokens);
  options.reserved_tokens = std::min(options.reserved_tokens, rows);
  return options;
}

generate::CacheOptions cache_options(const engine::LoadedModel& model,
                                     const SessionOptions& options) {
  generate::CacheOptions cache = engine::session_cache(model);
  cache.expected_rows = options.reserved_tokens;
  return cache;
}

generate::SchedulerOptions scheduler_options(const engine::LoadedModel& model,
                                             const SessionOptions& asked) {
  check_all<engine::SessionOption>(asked);
  model.require_generates();
  const SessionOptions options = fitted(model, asked);
  return {.dtype = model.activations(),
          .cache = cache_options(model, options),
          .max_active_tokens = options.max_active_tokens,
          .max_active_requests = options.max_active_requests,
          .max_prefill_tokens = options.max_prefill_tokens,
          .balance_prefill = options.balance_prefill,
          .max_cached_tokens = options.max_cached_tokens,
          .drafter = engine::make_drafter(model, options.max_cached_tokens)};
}

}  // namespace

struct Session::State {
  State(const Model& shared, const SessionOptions& options)
      : model(shared),
        scheduler(*engine::loaded(model).transformer,
                  scheduler_options(engine::loaded(model), options)),
        interrupted(options.interrupted) {}

  struct Running {
    std::unique_ptr<engine::SessionJob> job;
    OnDelta on_delta;
  };

  /// The next step of the scheduler; nothing if SessionOptions::interrupted ended it early.
  std::span<const generate::Scheduler::Progress> step();
  /// Tells a request what a step has added. Returns whether it goes on.
  bool report(RequestId id, const generate::Scheduler::Progress& progress, Running& running);

  Model model;  // keeps the weights alive
  generate::Scheduler scheduler;
  std::function<bool()> interrupted;  // SessionOptions::interrupted
  // Shared: a function may cancel the request that it is called for.
  std::map<RequestId, std::shared_ptr<Running>> running;
  bool in_step = false;
};

std::span<const generate::Scheduler::Progress> Session::State::step() {
  if (!interrupted) return scheduler.step();
  const InterruptScope scope(interrupted, std::chrono::milliseconds(0));
  try {
    return scheduler.step();
  } catch (const Interrupted&) {
    if (!scope.interrupted()) throw;  // a scope of the caller
    return {};
  }
}

bool Session::State::report(RequestId id, const generate::Scheduler::Progress& progress,
                            Running& now) {
  if (progress.error) {
    try {
      std::rethrow_exception(progress.error);
    } catch (const Error& error) {
      Delta delta{.request = id};
      delta.error = &error;
      now.on_delta(delta);
      return false;
    }
  }
  return now.job->report(id, progress.ended, now.on_delta) && !progress.ended;
}

Session::Session(const Model& model, const SessionOptions& options)
    : state_(std::make_unique<State>(model, options)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Session::State& Session::state() const {
  require(state_ != nullptr, "the session is closed");
  return *state_;
}

RequestId Session::add(const Request& request, OnDelta on_delta) {
  State& s = state();
  require(static_cast<bool>(on_delta), "the request has no function to receive its output");
  auto running = std::make_shared<State::Running>(
      engine::SessionJob::make(engine::loaded(s.model), request), std::move(on_delta));
  generate::Scheduler::Request scheduled = running->job->request();
  if (request.adapters)
    scheduled.adapters = engine::loaded(s.model).adapters.named(*request.adapters);
  scheduled.on_start = request.on_start;
  const RequestId id = s.scheduler.add(std::move(scheduled));
  s.running.emplace(id, std::move(running));
  return id;
}

void Session::cancel(RequestId request) {
  State& s = state();
  s.scheduler.cancel(request);
  s.running.erase(request);
}

bool Session::step() {
  State& s = state();
  require(!s.in_step, "step() was called from the function of a request");
  const ExecutorScope scope(*engine::loaded(s.model).executor);
  std::exception_ptr failure;
  const auto steps = s.step();
  s.in_step = true;
  for (const generate::Scheduler::Progress& progress : steps) {
    const auto found = s.running.find(progress.id);
    if (found == s.running.end()) continue;  // cancelled by another request's function
    const std::shared_ptr<State::Running> now = found->second;
    bool goes_on = false;
    try {
      goes_on = s.report(progress.id, progress, *now);
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
    if (!goes_on) cancel(progress.id);
  }
  s.in_step = false;
  if (failure) std::rethrow_exception(failure);
  return !s.running.empty();
}

void Session::close() {
  require(!state().in_step, "close() was called from the function of a request");
  state_.reset();
}

int64_t Session::requests() const { return static_cast<int64_t>(state().running.size()); }
int64_t Session::waiting_requests() const { return state().scheduler.waiting(); }
bool Session::has(RequestId request) const { return state().running.contains(request); }
int64_t Session::rows_in_use() const { return state().scheduler.rows_in_use(); }
int64_t Session::cached_rows() const { return state().scheduler.cached_rows(); }
int64_t Session::reused_tokens() const { return state().scheduler.reused_tokens(); }
void Session::clear_cached_tokens() { state().scheduler.clear_cached_tokens(); }

}  // namespace heed
