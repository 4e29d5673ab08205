#include "heed/base/interrupt.h"

#include <atomic>
#include <thread>
#include <utility>

namespace heed {

/// One scope, and those around it.
class InterruptState {
 public:
  using Clock = std::chrono::steady_clock;

  InterruptState(std::function<bool()> asked, Clock::duration interval, InterruptState* outer)
      : asked_(std::move(asked)),
        interval_(interval),
        outer_(outer),
        next_question_(Clock::now() + interval) {}

  InterruptState* outer() const { return outer_; }
  bool interrupted() const { return interrupted_.load(std::memory_order_relaxed); }

  void ask() {
    if (std::this_thread::get_id() != thread_ || interrupted()) return;
    if (Clock::now() < next_question_) return;
    if (asked_ && asked_()) interrupted_.store(true, std::memory_order_relaxed);
    next_question_ = Clock::now() + interval_;
  }

 private:
  const std::function<bool()> asked_;
  const Clock::duration interval_;
  InterruptState* const outer_;
  const std::thread::id thread_ = std::this_thread::get_id();
  Clock::time_point next_question_;
  std::atomic<bool> interrupted_{false};
};

namespace {

constinit thread_local InterruptState* innermost = nullptr;

}  // namespace

const char* Interrupted::what() const noexcept { return "the call was interrupted"; }

InterruptScope::InterruptScope(std::function<bool()> interrupted,
                               std::chrono::milliseconds interval)
    : state_(std::make_unique<InterruptState>(std::move(interrupted), interval, innermost)),
      before_(innermost) {
  innermost = state_.get();
}

InterruptScope::~InterruptScope() { innermost = before_; }

bool InterruptScope::interrupted() const { return state_->interrupted(); }

void check_interrupted() {
  for (InterruptState* state = innermost; state != nullptr; state = state->outer()) {
    state->ask();
    if (state->interrupted()) throw Interrupted();
  }
}

void ask_interrupted() {
  for (InterruptState* state = innermost; state != nullptr; state = state->outer()) state->ask();
}

InterruptState* current_interrupts() { return innermost; }

InheritedInterrupts::InheritedInterrupts(InterruptState* of_other_thread) : before_(innermost) {
  innermost = of_other_thread;
}

InheritedInterrupts::~InheritedInterrupts() { innermost = before_; }

}  // namespace heed
