#include "heed/serve/preprocessing_pool.h"

#include <utility>

#include "heed/interrupt.h"

namespace heed::serve {
namespace {

constexpr int kShortThreads = 2, kLongThreads = 1;
/// How often a task asks whether it is to be interrupted.
constexpr std::chrono::milliseconds kInterval{10};

}  // namespace

PreprocessingPool::PreprocessingPool() {
  try {
    for (int i = 0; i < kShortThreads; ++i) short_.threads.emplace_back([this] { loop(short_); });
    for (int i = 0; i < kLongThreads; ++i) long_.threads.emplace_back([this] { loop(long_); });
  } catch (...) {
    stop();
    throw;
  }
}

void PreprocessingPool::post(std::shared_ptr<Call> call, std::function<void()> task) {
  const bool shortest_first = is_long(*call);
  const size_t key = shortest_first ? call->request().body.size() : 0;
  Queue& queue = shortest_first ? long_ : short_;
  {
    const MutexLock lock(queue.mutex);
    if (ended_) return;
    queue.waiting.emplace(key, Work{std::move(call), std::move(task)});
  }
  queue.posted.notify_one();
}

int64_t PreprocessingPool::waiting_long() const {
  const MutexLock lock(long_.mutex);
  return std::ssize(long_.waiting);
}

void PreprocessingPool::loop(Queue& queue) {
  while (true) {
    MutexLock lock(queue.mutex);
    while (!ended_ && queue.waiting.empty()) queue.posted.wait(lock);
    if (ended_) return;
    const Work work = std::move(queue.waiting.extract(queue.waiting.begin()).mapped());
    lock.unlock();
    run(work);
  }
}

void PreprocessingPool::run(const Work& work) {
  Call& call = *work.call;
  const auto late = [&] { return Call::Clock::now() >= call.deadline; };
  if (call.cancelled()) return;
  try {
    const InterruptScope scope([&] { return ended_ || call.cancelled() || late(); }, kInterval);
    work.task();
  } catch (const Interrupted&) {
    call.fail(late() ? deadline_exceeded() : unavailable("the server is shutting down", 5));
  } catch (...) {
    call.fail(current_error());
  }
}

void PreprocessingPool::stop() {
  for (Queue* queue : {&short_, &long_}) {
    {
      const MutexLock lock(queue->mutex);
      ended_ = true;
    }
    queue->posted.notify_all();
    for (std::thread& thread : queue->threads) thread.join();
    queue->threads.clear();
    decltype(queue->waiting) waiting;  // ends outside the lock
    const MutexLock lock(queue->mutex);
    waiting.swap(queue->waiting);
  }
}

}  // namespace heed::serve
