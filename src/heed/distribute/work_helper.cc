#include "heed/distribute/work_helper.h"

#include <array>

#include "heed/base/interrupt.h"

namespace heed::distribute {

void WorkHelper::run(uint64_t fingerprint, const Compute& compute) {
  put(write_work(WorkMessage::hello, fingerprint));
  exchange_ = group_.run([this](Messenger& messenger) { exchange(messenger); });
  try {
    work(compute);
  } catch (const std::exception& error) {
    put(write_work(WorkMessage::failed, 0, error.what()));
  }
  group_.wait(exchange_);
}

void WorkHelper::fail_with(const std::string& error) {
  put(write_work(WorkMessage::failed, 0, error));
  exchange_ = group_.run([this](Messenger& messenger) { exchange(messenger); });
  group_.wait(exchange_);
}

void WorkHelper::put(std::string letter) {
  const MutexLock lock(mutex_);
  letters_.push_back(std::move(letter));
}

void WorkHelper::work(const Compute& compute) {
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
    put(write_work(WorkMessage::result, number, result));
    lock.lock();
  }
}

void WorkHelper::exchange(Messenger& messenger) {
  const std::array<int, 1> root{0};
  try {
    while (true) {
      group_.hurried();
      messenger.answer();
      const bool heard = hear(messenger);
      const bool sent = send(messenger);
      {
        const MutexLock lock(mutex_);
        if (ended_) break;
      }
      messenger.watch(root);
      if (!heard && !sent) std::this_thread::sleep_for(kWorkPause);
    }
    leave(messenger);
  } catch (...) {
    const MutexLock lock(mutex_);
    failed_ = true;
    changed_.notify_one();
    throw;
  }
}

/// After this, rank 0 has no message for this rank, nor this one for it.
void WorkHelper::leave(Messenger& messenger) {
  const auto begin = std::chrono::steady_clock::now();
  const auto settle = [&] {
    do {
      messenger.answer();
      if (messenger.settled()) return;
      std::this_thread::sleep_for(kWorkPause);
    } while (std::chrono::steady_clock::now() - begin < kWorkLeave);
  };
  settle();
  messenger.post(0, write_work(WorkMessage::bye));
  settle();
}

/// Reads the letters of rank 0. Returns whether there were any.
bool WorkHelper::hear(Messenger& messenger) {
  bool any = false;
  while (const auto letter = messenger.take()) {
    any = true;
    const auto [kind, number, bytes] = read_work(letter->bytes);
    if (kind == WorkMessage::stop) throw ReportedElsewhere("rank 0 has ended the work");
    const MutexLock lock(mutex_);
    if (kind == WorkMessage::piece) pieces_.emplace_back(number, bytes);
    if (kind == WorkMessage::end) ended_ = true;
    changed_.notify_one();
  }
  return any;
}

bool WorkHelper::send(Messenger& messenger) {
  std::deque<std::string> letters;
  {
    const MutexLock lock(mutex_);
    letters.swap(letters_);
  }
  for (std::string& letter : letters) messenger.post(0, std::move(letter));
  return !letters.empty();
}

}  // namespace heed::distribute
