#include "heed/serve/served_model.h"

#include <algorithm>
#include <new>

#include "heed/interrupt.h"
#include "heed/tensor/device_error.h"

namespace heed::serve {
namespace {

using namespace std::chrono_literals;

/// Tokens of the kv cache whose memory is reserved. Copying a cache that grows takes a tenth of a
/// second and more, in which nobody gets a token.
constexpr int64_t kReservedTokens = 32'768;

/// How long texts are embedded at a time: alone, and beside requests that wait for their next
/// token.
constexpr auto kBatchTime = 80ms;
constexpr auto kBatchTimeBesideSession = 10ms;

/// Tokens of inputs of run_in_parts() that are computed at a time.
constexpr int64_t kPartTokens = 2048;

/// How often the kept rows of the cache are counted while there is work.
constexpr auto kCountTime = 200ms;

/// Throws a copy of the error, which stays an InputError if it is one.
[[noreturn]] void rethrow(const Error& error) {
  if (const auto* input = dynamic_cast<const InputError*>(&error)) throw InputError(*input);
  throw Error(error);
}

/// Responds with the exception that is being handled, and cancels the other work of the call.
void fail_and_cancel(Call& call) {
  call.fail(current_error());
  call.cancel();
}

}  // namespace

ServedModel::ServedModel(Model model, const BatchingOptions& options, ComputeLoop& loop)
    : model_(std::move(model)), options_(options), loop_(loop), texts_(model_) {
  if (!model_.has_decoder()) return;
  session_.emplace(model_, SessionOptions{.max_active_tokens = options.max_active_tokens,
                                          .max_active_requests = options.max_active_requests,
                                          .max_prefill_tokens = options.max_prefill_tokens,
                                          .balance_prefill = true,
                                          .max_cached_tokens = options.max_cached_tokens,
                                          .reserved_tokens = std::min(
                                              kReservedTokens, options.max_active_tokens +
                                                                   options.max_cached_tokens),
                                          .interrupted = [this] { return interrupted(); }});
}

void ServedModel::post(std::function<void()> function) {
  idle_ = false;
  loop_.post([self = shared_from_this(), function = std::move(function)] {
    self->loop_.add(self);
    function();
  });
}

/// Whether to interrupt the step. The budget ensures progress, however many calls are cancelled.
bool ServedModel::interrupted() {
  if (!interrupts_ || !preemption_budget_.allows()) return false;
  was_interrupted_ = true;
  return true;
}

void ServedModel::generate(std::shared_ptr<Call> call, Request request, int64_t tokens,
                           Session::OnDelta on_delta) {
  call->on_cancel([weak = weak_from_this(), reader = std::weak_ptr(call)] {
    const auto model = weak.lock();
    if (!model) return;
    model->cancels_ = true;
    const auto cancelled = reader.lock();
    if (cancelled && cancelled->is_prefilling()) model->interrupts_ = true;
    model->loop_.post([model] {});  // wakes it
  });
  request.on_start = [call, tokens] { call->part_started(tokens); };
  auto report = [call, on_delta = std::move(on_delta)](const Delta& delta) {
    try {
      if (delta.error) rethrow(*delta.error);
      call->tokens_generated(static_cast<int64_t>(delta.tokens.size()));
      return on_delta(delta);
    } catch (...) {
      fail_and_cancel(*call);
      return false;
    }
  };
  post([this, call = std::move(call), request = std::move(request),
        report = std::move(report)]() mutable {
    if (call->cancelled()) return;
    waiting_.emplace(call->priority, Waiting{call, std::move(request), std::move(report)});
    add_waiting();
    if (!call->cancelled()) call->accepted();
    publish_stats(false);
  });
}

/// Gives requests to the session, which computes them in the order in which it gets them.
void ServedModel::add_waiting() {
  const int64_t most = options_.max_active_requests;
  while (!waiting_.empty() && (most == 0 || session_->requests() < most)) {
    auto next = waiting_.extract(waiting_.begin());
    Waiting& one = next.mapped();
    if (one.call->cancelled()) continue;
    try {
      const RequestId id = session_->add(one.request, std::move(one.on_delta));
      running_.push_back({std::move(one.call), id});
    } catch (...) {
      fail_and_cancel(*one.call);
    }
  }
}

void ServedModel::embed(std::shared_ptr<Call> call, std::vector<std::vector<int32_t>> texts,
                        std::function<void(size_t, std::vector<float>)> done) {
  post([this, call = std::move(call), texts = std::move(texts), done = std::move(done)]() mutable {
    for (size_t i = 0; i < texts.size(); ++i)
      texts_.add({call, std::move(texts[i]),
                  [done, i](std::vector<float> vector) { done(i, std::move(vector)); }});
  });
}

void ServedModel::run(std::shared_ptr<Call> call, int64_t tokens, std::function<void()> function) {
  post([this, call = std::move(call), tokens, function = std::move(function)]() mutable {
    add_by_priority(jobs_, Job{std::move(call), tokens, std::move(function)});
  });
}

void ServedModel::run_in_parts(const std::shared_ptr<Call>& call, std::span<const int64_t> tokens,
                               const std::function<void(size_t, size_t)>& function) {
  for (size_t begin = 0; begin < tokens.size();) {
    size_t end = begin;
    int64_t part = 0;
    while (end < tokens.size() && (end == begin || part + tokens[end] <= kPartTokens))
      part += tokens[end++];
    run(call, part, [function, begin, end] { function(begin, end); });
    begin = end;
  }
}

void ServedModel::retire() {
  post([this] { retired_ = true; });
}

bool ServedModel::work() {
  const bool generating = session_ && (!running_.empty() || !waiting_.empty());
  if (generating) step();
  if (!texts_.empty()) texts_.work(generating ? kBatchTimeBesideSession : kBatchTime);
  if (!jobs_.empty()) {
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    if (!job.call->cancelled()) {
      job.call->part_started(job.tokens);
      try {
        const InterruptScope scope([&] { return job.call->cancelled(); });
        job.function();
      } catch (const Interrupted&) {  // nobody wants the answer
      } catch (...) {
        fail_and_cancel(*job.call);
      }
    }
  }
  const bool busy = !running_.empty() || !waiting_.empty() || !texts_.empty() || !jobs_.empty();
  publish_stats(!busy);
  if (!busy) idle_ = true;
  if (!busy && retired_) loop_.post([self = shared_from_this()] { self->loop_.remove(*self); });
  return busy;
}

/// Clears the queues, whose elements refer to this model, so that it can be freed.
void ServedModel::drop() {
  session_.reset();
  running_.clear();
  waiting_.clear();
  texts_.clear();
  jobs_.clear();
}

void ServedModel::step() {
  drop_cancelled();
  add_waiting();
  if (running_.empty()) return;
  was_interrupted_ = false;
  const auto start = PreemptionBudget::Clock::now();
  preemption_budget_.refill(start);
  try {
    session_->step();
    const bool others =
        std::ranges::any_of(running_, [](const Running& one) { return !one.call->cancelled(); });
    if (was_interrupted_ && others)
      preemption_budget_.spend(PreemptionBudget::Clock::now() - start);
  } catch (const std::bad_alloc&) {
    make_room(current_error());
  } catch (const DeviceMemoryError&) {
    make_room(current_error());
  } catch (...) {  // a GPU was lost
    for (const Running& one : running_) fail_and_cancel(*one.call);
    drop_cancelled();
  }
  std::erase_if(running_, [&](const Running& one) { return !session_->has(one.id); });
}

/// There is no memory for a step, which has left all requests as they were: the newest one that has
/// begun ends with `error`, for the others.
void ServedModel::make_room(const ApiError& error) {
  const int64_t begun = std::ssize(running_) - session_->waiting_requests();
  const auto newest = running_.begin() + std::max<int64_t>(begun, 1) - 1;
  newest->call->fail(error);
  newest->call->cancel();
  drop_cancelled();
}

void ServedModel::drop_cancelled() {
  if (!cancels_.exchange(false)) return;
  interrupts_ = false;
  std::erase_if(waiting_, [](const auto& one) { return one.second.call->cancelled(); });
  std::erase_if(running_, [&](const Running& one) {
    if (one.call->cancelled()) session_->cancel(one.id);
    return one.call->cancelled();
  });
}

void ServedModel::publish_stats(bool idle) {
  if (!session_) return;
  requests_ = session_->requests() + std::ssize(waiting_);
  rows_ = session_->rows_in_use();
  reused_tokens_ = session_->reused_tokens();
  // Kept rows are counted one by one.
  const auto now = Call::Clock::now();
  if (!idle && now - counted_ < kCountTime) return;
  counted_ = now;
  kept_rows_ = session_->cached_rows();
}

ServedModel::Stats ServedModel::stats() const {
  return {.requests = requests_,
          .rows = rows_,
          .kept_rows = std::min<int64_t>(kept_rows_, rows_),
          .reused_tokens = reused_tokens_};
}

}  // namespace heed::serve
