#include "heed/executor.h"

#include "heed/base/error.h"
#include "heed/base/system.h"
#include "heed/base/thread_pool.h"
#include "heed/fork.h"

namespace heed {
namespace {

constexpr int kMaxThreads = 1024;

int thread_count_of(int threads) {
  require(threads >= 0 && threads <= kMaxThreads,
          "threads is {}, expected 1 to {}, or 0 for all processors", threads, kMaxThreads);
  return threads > 0 ? threads : available_processors();
}

}  // namespace

Executor::Executor(int threads) : pool_(std::make_unique<ThreadPool>(thread_count_of(threads))) {}
Executor::~Executor() = default;

int Executor::threads() const { return pool_->threads(); }

/// Never destroyed: when the process exits, any thread may still compute on it.
const std::shared_ptr<Executor>& Executor::shared() {
  static const auto* const instance =
      new const std::shared_ptr<Executor>(std::make_shared<Executor>());
  return *instance;
}

void restart_after_fork(const Executor& executor) { pool_of(executor).restart_after_fork(); }

ThreadPool& pool_of(const Executor& executor) { return *executor.pool_; }

}  // namespace heed
