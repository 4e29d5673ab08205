#include "heed/hub/fetcher.h"

#include <algorithm>
#include <utility>

#include "heed/base/interrupt.h"

namespace heed::hub {
namespace {

constexpr size_t kParallel = 4;
constexpr std::chrono::milliseconds kTick{100};
/// An attempt that brings so much counts as a success.
constexpr uint64_t kWorthwhileBytes = uint64_t{1} << 20;

bool is_transient(const Response& response) {
  return response.outcome == Outcome::broken_off || response.outcome == Outcome::unreachable ||
         (response.outcome == Outcome::refused && response.head.is_transient());
}

}  // namespace

Fetcher::Fetcher(std::string token, const HubOptions& options)
    : token_(std::move(token)), options_(options), http_(options.timeouts) {}

void Fetcher::poll() const {
  check_interrupted();
  if (options_.cancelled && options_.cancelled())
    throw Cancelled("the download was stopped; the next one continues it");
}

void Fetcher::run(const std::vector<std::unique_ptr<Task>>& tasks,
                  const std::function<void(bool waiting)>& tick) {
  std::vector<State> states;
  for (const auto& task : tasks) states.push_back({.task = task.get()});
  const auto is_done = [](const State& state) { return state.phase == State::Phase::done; };
  for (;;) {
    poll();
    const bool waiting = start_pending(states);
    tick(waiting);
    if (std::ranges::all_of(states, is_done)) return;
    http_.step(kTick, [&](size_t id, const Response& response) { end(states[id], response); });
  }
}

bool Fetcher::start_pending(std::vector<State>& states) {
  bool others = false;
  for (size_t id = 0; id < states.size() && http_.running() < kParallel; ++id) {
    State& state = states[id];
    if (state.phase != State::Phase::pending || Clock::now() < state.next_start) continue;
    switch (state.task->prepare()) {
      case Task::Readiness::ready:
        start(id, state);
        break;
      case Task::Readiness::waiting:
        others = true;
        break;
      case Task::Readiness::done:
        state.phase = State::Phase::done;
        break;
    }
  }
  return others && http_.running() == 0;
}

void Fetcher::start(size_t id, State& state) {
  Task& task = *state.task;
  state.size_before = task.size();
  state.phase = State::Phase::running;
  http_.start(id, {.url = task.url(),
                   .token = token_,
                   .offset = task.size(),
                   .begin = [&task](const ResponseHead& head) { task.begin(head); },
                   .receive = [&task](std::string_view bytes) { task.receive(bytes); }});
}

void Fetcher::end(State& state, const Response& response) {
  state.phase = State::Phase::pending;
  reached_ = reached_ || response.head.status > 0;
  if (response.outcome != Outcome::complete) return schedule_retry(state, response);
  const std::string problem = state.task->finish();
  if (problem.empty())
    state.phase = State::Phase::done;
  else
    schedule_retry(state, {Outcome::broken_off, response.head, problem});
}

void Fetcher::schedule_retry(State& state, const Response& response) {
  const HubTimeouts& timeouts = options_.timeouts;
  const std::string problem = fmt::format("{}: {}", state.task->name(), response.problem);
  // Without a network nothing is gained by waiting.
  const bool first_contact = response.outcome == Outcome::unreachable && !reached_;
  if (!is_transient(response) || first_contact) throw RequestError(problem, response);
  if (state.task->size() >= state.size_before + kWorthwhileBytes) state.failures = 0;
  if (++state.failures >= timeouts.attempts)
    throw RequestError(
        fmt::format("{}, {} times{}", problem, state.failures,
                    state.task->size() > 0 ? "; the next download continues it" : ""),
        response);
  if (response.head.retry_after > timeouts.longest_pause)
    throw RequestError(fmt::format("{}; the server asks to wait for {} s", problem,
                                   response.head.retry_after.count()),
                       response);
  const auto doubled = timeouts.first_pause * (int64_t{1} << std::min(state.failures - 1, 20));
  const auto pause = std::max<std::chrono::milliseconds>(std::min(doubled, timeouts.longest_pause),
                                                         response.head.retry_after);
  state.next_start = Clock::now() + pause;
}

}  // namespace heed::hub
