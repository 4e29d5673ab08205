#include "heed/distribute/worker.h"

#include <array>
#include <atomic>
#include <deque>

#include "heed/base/interrupt.h"
#include "heed/base/mutex.h"
#include "heed/distribute/work_messages.h"

namespace heed::distribute {
namespace {

/// A rank of share_work() other than 0. The progress thread exchanges messages with rank 0, so that
/// pings are answered during a long piece; the calling thread computes.
class Worker {
 public:
  explicit Worker(Group& group) : group_(group) {}
  void run(uint64_t fingerprint, const Compute& compute);
  /// Reports an error to rank 0 in place of run().
  void report(const std::string& error);

 private:
  void work(const Compute& compute);
  void exchange(Messenger& messenger);
  bool receive(Messenger& messenger);
  bool send(Messenger& messenger);
  void enqueue(std::string message);

  Group& group_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<std::pair<uint64_t, std::string>> pieces_ HEED_GUARDED_BY(mutex_);
  std::deque<std::string> outbox_ HEED_GUARDED_BY(mutex_);  // messages to rank 0
  bool ended_ HEED_GUARDED_BY(mutex_) = false;              // rank 0 has no more pieces
  std::atomic<bool> failed_ = false;
};

void Worker::run(uint64_t fingerprint, const Compute& compute) {
  enqueue(write_work(WorkMessage::hello, fingerprint));
  std::future<void> exchanged = group_.run([this](Messenger& messenger) { exchange(messenger); });
  try {
    work(compute);
  } catch (const std::exception& error) {
    enqueue(write_work(WorkMessage::failed, 0, error.what()));
  }
  group_.wait(exchanged);
}

void Worker::report(const std::string& error) {
  enqueue(write_work(WorkMessage::failed, 0, error));
  std::future<void> exchanged = group_.run([this](Messenger& messenger) { exchange(messenger); });
  group_.wait(exchanged);
}

void Worker::enqueue(std::string message) {
  const MutexLock lock(mutex_);
  outbox_.push_back(std::move(message));
}

void Worker::work(const Compute& compute) {
  const InterruptScope scope([this] { return failed_.load(); });
  MutexLock lock(mutex_);
  while (true) {
    while (pieces_.empty()) {
      if (ended_ || failed_) return;
      changed_.wait(lock);
    }
    if (failed_) return;
    const auto [number, bytes] = std::move(pieces_.front());
    pieces_.pop_front();
    lock.unlock();
    std::string result;
    try {
      result = compute(bytes);
    } catch (const Interrupted&) {
      if (!scope.interrupted()) throw;
      return;
    }
    enqueue(write_work(WorkMessage::result, number, result));
    lock.lock();
  }
}

void Worker::exchange(Messenger& messenger) {
  const std::array<int, 1> root{0};
  try {
    while (true) {
      group_.poll_stop_request();
      messenger.answer();
      const bool received = receive(messenger);
      const bool sent = send(messenger);
      {
        const MutexLock lock(mutex_);
        if (ended_) break;
      }
      messenger.watch(root);
      if (!received && !sent) std::this_thread::sleep_for(kWorkPollInterval);
    }
    flush(messenger);
    messenger.send(0, write_work(WorkMessage::bye));
    flush(messenger);
  } catch (...) {
    const MutexLock lock(mutex_);
    failed_ = true;
    changed_.notify_one();
    throw;
  }
}

/// Takes the messages of rank 0. Returns whether there were any.
bool Worker::receive(Messenger& messenger) {
  bool any = false;
  while (const auto message = messenger.try_receive()) {
    any = true;
    const auto [kind, number, bytes] = read_work(message->bytes);
    if (kind == WorkMessage::stop) throw ReportedElsewhere("rank 0 has ended the work");
    const MutexLock lock(mutex_);
    if (kind == WorkMessage::piece) pieces_.emplace_back(number, bytes);
    if (kind == WorkMessage::end) ended_ = true;
    changed_.notify_one();
  }
  return any;
}

bool Worker::send(Messenger& messenger) {
  std::deque<std::string> messages;
  {
    const MutexLock lock(mutex_);
    messages.swap(outbox_);
  }
  for (std::string& message : messages) messenger.send(0, std::move(message));
  return !messages.empty();
}

}  // namespace

void compute_for_root(Group& group, uint64_t fingerprint, const Compute& compute) {
  Worker(group).run(fingerprint, compute);
}

void report_to_root(Group& group, const std::string& error) {
  Worker(group).report(error);
  throw ReportedElsewhere(error);
}

}  // namespace heed::distribute
