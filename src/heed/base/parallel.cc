#include "heed/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>

#include "heed/base/interrupt.h"
#include "heed/base/mutex.h"
#include "heed/base/thread_pool.h"

namespace heed {
namespace {

/// The Executor that the thread computes on; null before its first computation.
struct Current {
  Executor* executor = nullptr;
  ThreadPool* pool = nullptr;
};
constinit thread_local Current chosen;

void choose(Executor& executor) { chosen = {&executor, &pool_of(executor)}; }

const Current& current() {
  if (chosen.executor == nullptr) choose(*Executor::shared());
  return chosen;
}

/// The chunks of a parallel_for on the calling thread, in order.
void run_alone(int64_t count, int64_t grain, const ParallelBody& body) {
  const InsideBody inside;
  for (int64_t begin = 0; begin < count;) {
    const int64_t end = begin + std::min(grain, count - begin);
    body(begin, end);
    begin = end;
  }
}

/// Hands out the integers [0, count) in order until a body throws.
class Queue {
 public:
  explicit Queue(int64_t count) : count_(count), failed_(count) {}

  template <typename Body>
  void work(const Body& body) {
    for (int64_t i = next_.fetch_add(1); i < count_; i = next_.fetch_add(1)) {
      try {
        check_interrupted();
        body(i);
      } catch (...) {
        fail_at(i);
      }
    }
  }

  /// Integers are handed out in order, so the lowest one that throws has always been started: the
  /// exception does not depend on the number of threads.
  void rethrow() {
    const MutexLock lock(mutex_);
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void fail_at(int64_t i) {
    next_.store(count_);
    const MutexLock lock(mutex_);
    if (i >= failed_) return;
    failed_ = i;
    error_ = std::current_exception();
  }

  const int64_t count_;
  std::atomic<int64_t> next_{0};
  Mutex mutex_;
  int64_t failed_ HEED_GUARDED_BY(mutex_);
  std::exception_ptr error_ HEED_GUARDED_BY(mutex_);
};

}  // namespace

Executor& current_executor() { return *current().executor; }

ExecutorScope::ExecutorScope(Executor& executor) : before_(current_executor()) { choose(executor); }
ExecutorScope::~ExecutorScope() { choose(before_); }

int thread_count() { return InsideBody::here() ? 1 : current().pool->threads(); }

void run_chunks(int64_t count, int64_t grain, ParallelBody body) {
  grain = std::max<int64_t>(grain, 1);
  if (count <= grain) return body(0, count);
  if (!InsideBody::here() && current().pool->try_run(count, grain, body)) return;
  run_alone(count, grain, body);
}

void run_in_order(int64_t count, int64_t grain, ParallelBody body) {
  grain = std::max<int64_t>(grain, 1);
  Queue queue(count / grain + (count % grain ? 1 : 0));
  InterruptState* const interrupts = current_interrupts();
  const auto work = [&](int64_t, int64_t) {
    const InheritedInterrupts inherited(interrupts);
    queue.work([&](int64_t chunk) {
      const int64_t begin = chunk * grain;
      body(begin, begin + std::min(grain, count - begin));
    });
  };
  run_chunks(thread_count(), 1, ParallelBody(work));
  queue.rethrow();
}

}  // namespace heed
