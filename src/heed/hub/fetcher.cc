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

bool is_transient(const Answer& answer) {
  return answer.outcome == Outcome::broken_off || answer.outcome == Outcome::unreachable ||
         (answer.outcome == Outcome::refused && answer.head.is_transient());
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
    http_.step(kTick, [&](size_t id, const Answer& answer) { end(states[id], answer); });
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

void Fetcher::end(State& state, const Answer& answer) {
  state.phase = State::Phase::pending;
  reached_ = reached_ || answer.head.status > 0;
  if (answer.outcome != Outcome::complete) return schedule_retry(state, answer);
  const std::string problem = state.task->finish();
  if (problem.empty())
    state.phase = State::Phase::done;
  else
    schedule_retry(state, {Outcome::broken_off, answer.head, problem});
}

void Fetcher::schedule_retry(State& state, const Answer& answer) {
  const HubTimeouts& timeouts = options_.timeouts;
  const std::string problem = fmt::format("{}: {}", state.task->name(), answer.problem);
  // Without a network nothing is gained by waiting.
  const bool first_contact = answer.outcome == Outcome::unreachable && !reached_;
  if (!is_transient(answer) || first_contact) throw RequestError(problem, answer);
  if (state.task->size() >= state.size_before + kWorthwhileBytes) state.failures = 0;
  if (++state.failures >= timeouts.attempts)
    throw RequestError(
        fmt::format("{}, {} times{}", problem, state.failures,
                    state.task->size() > 0 ? "; the next download continues it" : ""),
        answer);
  if (answer.head.retry_after > timeouts.longest_pause)
    throw RequestError(fmt::format("{}; the server asks to wait for {} s", problem,
                                   answer.head.retry_after.count()),
                       answer);
  const auto doubled = timeouts.first_pause * (int64_t{1} << std::min(state.failures - 1, 20));
  const auto pause = std::max<std::chrono::milliseconds>(std::min(doubled, timeouts.longest_pause),
                                                         answer.head.retry_after);
  state.next_start = Clock::now() + pause;
}

}  // namespace heed::hub
