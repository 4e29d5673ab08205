#include "heed/serve/readers.h"

#include <utility>

#include "heed/interrupt.h"

namespace heed::serve {
namespace {

constexpr int kShortReaders = 2, kLongReaders = 1;
/// How often work is asked whether somebody still wants it.
constexpr std::chrono::milliseconds kInterval{10};

}  // namespace

Readers::Readers() {
  try {
    for (int i = 0; i < kShortReaders; ++i) short_.threads.emplace_back([this] { loop(short_); });
    for (int i = 0; i < kLongReaders; ++i) long_.threads.emplace_back([this] { loop(long_); });
  } catch (...) {
    stop();
    throw;
  }
}

void Readers::post(std::shared_ptr<Call> call, std::function<void()> read) {
  const bool shortest_first = is_long(*call);
  const size_t key = shortest_first ? call->request().body.size() : 0;
  Lane& lane = shortest_first ? long_ : short_;
  {
    const MutexLock lock(lane.mutex);
    if (ended_) return;
    lane.waiting.emplace(key, Work{std::move(call), std::move(read)});
  }
  lane.posted.notify_one();
}

int64_t Readers::waiting_long() const {
  const MutexLock lock(long_.mutex);
  return std::ssize(long_.waiting);
}

void Readers::loop(Lane& lane) {
  while (true) {
    MutexLock lock(lane.mutex);
    while (!ended_ && lane.waiting.empty()) lane.posted.wait(lock);
    if (ended_) return;
    const Work work = std::move(lane.waiting.extract(lane.waiting.begin()).mapped());
    lock.unlock();
    run(work);
  }
}

void Readers::run(const Work& work) {
  Call& call = *work.call;
  const auto late = [&] { return Call::Clock::now() >= call.deadline; };
  if (call.cancelled()) return;
  try {
    const InterruptScope scope([&] { return ended_ || call.cancelled() || late(); }, kInterval);
    work.read();
  } catch (const Interrupted&) {
    call.fail(late() ? deadline_exceeded() : unavailable("the server is shutting down", 5));
  } catch (...) {
    call.fail(current_error());
  }
}

void Readers::stop() {
  for (Lane* lane : {&short_, &long_}) {
    {
      const MutexLock lock(lane->mutex);
      ended_ = true;
    }
    lane->posted.notify_all();
    for (std::thread& thread : lane->threads) thread.join();
    lane->threads.clear();
    decltype(lane->waiting) waiting;  // ends outside the lock
    const MutexLock lock(lane->mutex);
    waiting.swap(lane->waiting);
  }
}

}  // namespace heed::serve
