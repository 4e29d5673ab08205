#include "heed/distribute/shared_work.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>

#include "heed/base/interrupt.h"
#include "heed/base/mutex.h"
#include "heed/distribute/work_messages.h"
#include "heed/distribute/worker.h"

namespace heed::distribute {
namespace {

/// Pieces that a rank has at a time: the one that it computes, and the next.
constexpr size_t kPrefetchDepth = 2;
/// Pieces in flight for each rank: assigned, and their results not taken yet.
constexpr uint64_t kInFlightWindow = 8;

/// Rank 0 of share_work(). The progress thread assigns pieces and receives results; the calling
/// thread takes results and computes pieces, too.
class Coordinator {
 public:
  Coordinator(Group& group, uint64_t fingerprint, const WorkSource& source, const Compute& compute);
  void run();
  /// In place of run(): tells the other ranks to end.
  void stop_before_start();

 private:
  struct Rank {
    bool ready = false;
    std::map<uint64_t, std::string> assigned;  // the names of its pieces, by number
  };

  void work();
  bool wait_for_work(MutexLock& lock) HEED_REQUIRES(mutex_);
  bool complete() const HEED_REQUIRES(mutex_) { return ended_ && taken_ == next_; }
  void dispatch(Messenger& messenger);
  ReadWork read(const Mailbox::Message& message) const;
  bool receive(Messenger& messenger);
  bool assign(Messenger& messenger);
  bool assign_to(Messenger& messenger, int rank);
  void end(Messenger& messenger);
  void stop(Messenger& messenger);
  std::string missing_of(int rank) const;
  std::string first_missing() const;

  Group& group_;
  const uint64_t fingerprint_;
  const WorkSource& source_;
  const Compute& compute_;
  std::vector<int> others_;  // ranks

  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::vector<Rank> ranks_ HEED_GUARDED_BY(mutex_);
  std::deque<std::pair<uint64_t, std::string>> own_ HEED_GUARDED_BY(mutex_);  // pieces of rank 0
  std::map<uint64_t, std::string> results_ HEED_GUARDED_BY(mutex_);           // not taken yet
  uint64_t next_ HEED_GUARDED_BY(mutex_) = 0;                                 // pieces assigned
  uint64_t taken_ HEED_GUARDED_BY(mutex_) = 0;                                // results taken
  bool ended_ HEED_GUARDED_BY(mutex_) = false;                                // the source
  std::exception_ptr source_error_ HEED_GUARDED_BY(mutex_);
  bool done_ HEED_GUARDED_BY(mutex_) = false;  // the calling thread has left work()
  std::atomic<bool> failed_ = false;           // one of the threads has
};

Coordinator::Coordinator(Group& group, uint64_t fingerprint, const WorkSource& source,
                         const Compute& compute)
    : group_(group),
      fingerprint_(fingerprint),
      source_(source),
      compute_(compute),
      ranks_(static_cast<size_t>(group.size())) {
  ranks_[0].ready = true;
  for (int rank = 1; rank < group.size(); ++rank) others_.push_back(rank);
}

void Coordinator::run() {
  std::future<void> messages = group_.run([this](Messenger& messenger) { dispatch(messenger); });
  std::exception_ptr error;
  try {
    work();
  } catch (...) {
    error = std::current_exception();
  }
  {
    const MutexLock lock(mutex_);
    if (error) failed_ = true;
    done_ = true;
  }
  if (!error) return group_.wait(messages);
  messages.wait();
  std::rethrow_exception(error);
}

void Coordinator::stop_before_start() {
  group_.run([this](Messenger& messenger) { stop(messenger); }).wait();
}

/// Waits until there is a result to take or a piece to compute; false at the end.
bool Coordinator::wait_for_work(MutexLock& lock) {
  while (!results_.contains(taken_) && (own_.empty() || failed_)) {
    if (failed_ || complete()) return false;
    changed_.wait(lock);
  }
  return true;
}

void Coordinator::work() {
  const InterruptScope scope([this] { return failed_.load(); });
  MutexLock lock(mutex_);
  while (wait_for_work(lock)) {
    if (auto result = results_.extract(taken_)) {
      ++taken_;
      lock.unlock();
      source_.take(std::move(result.mapped()));
      lock.lock();
      continue;
    }
    const auto [number, bytes] = std::move(own_.front());
    own_.pop_front();
    lock.unlock();
    std::string result;
    try {
      result = compute_(bytes);
    } catch (const Interrupted&) {
      if (!scope.interrupted()) throw;
      lock.lock();
      continue;  // takes the results before the failure
    }
    lock.lock();
    results_[number] = std::move(result);
    ranks_[0].assigned.erase(number);
  }
  if (!failed_ && source_error_) std::rethrow_exception(source_error_);
}

void Coordinator::dispatch(Messenger& messenger) {
  const auto is_done = [&] {
    const MutexLock lock(mutex_);
    return done_;
  };
  try {
    while (!is_done()) {
      group_.poll_stop_request();
      messenger.answer();
      const bool received = receive(messenger);
      const bool assigned = assign(messenger);
      if (messenger.watch(others_)) fail("a signal has ended the work{}", first_missing());
      if (!received && !assigned) std::this_thread::sleep_for(kWorkPollInterval);
    }
    if (failed_) return stop(messenger);
    end(messenger);
  } catch (const RankMissing& missing) {
    const std::string message = missing.what() + missing_of(missing.rank());
    stop(messenger);
    throw RankMissing(message, missing.rank());
  } catch (...) {
    stop(messenger);
    throw;
  }
}

/// Throws if the sender of the message has failed, or has another fingerprint.
ReadWork Coordinator::read(const Mailbox::Message& message) const {
  const ReadWork read = read_work(message.bytes);
  const std::string name = group_.name_of(message.from);
  if (read.kind == WorkMessage::failed)
    fail("{}: {}{}", name, read.bytes, missing_of(message.from));
  require(read.kind != WorkMessage::hello || read.number == fingerprint_,
          "{} has another model, or another build of heed, than rank 0", name);
  return read;
}

/// Takes messages. Returns whether there were any.
bool Coordinator::receive(Messenger& messenger) {
  bool any = false;
  while (const auto message = messenger.try_receive()) {
    any = true;
    const auto [kind, number, bytes] = read(*message);
    const MutexLock lock(mutex_);
    Rank& rank = ranks_[static_cast<size_t>(message->from)];
    if (kind == WorkMessage::hello) {
      rank.ready = true;
    } else {
      rank.assigned.erase(number);
      results_[number] = bytes;
      changed_.notify_one();
    }
  }
  return any;
}

/// Assigns each rank a piece before any gets a second one. Returns whether any was assigned.
bool Coordinator::assign(Messenger& messenger) {
  bool any = false;
  for (size_t pieces = 0; pieces < kPrefetchDepth; ++pieces)
    for (int rank = 0; rank < group_.size(); ++rank) {
      {
        const MutexLock lock(mutex_);
        const Rank& state = ranks_[static_cast<size_t>(rank)];
        if (!state.ready || state.assigned.size() != pieces) continue;
      }
      if (!assign_to(messenger, rank)) return any;
      any = true;
    }
  return any;
}

/// Assigns a rank the next piece, if there is one by now.
bool Coordinator::assign_to(Messenger& messenger, int rank) {
  {
    const MutexLock lock(mutex_);
    if (ended_ || next_ - taken_ >= kInFlightWindow * ranks_.size()) return false;
  }
  bool ended = false;
  std::exception_ptr error;
  std::optional<WorkItem> piece;
  try {
    piece = source_.next(ended);
  } catch (...) {
    error = std::current_exception();
  }
  const MutexLock lock(mutex_);
  ended_ = ended || error;
  source_error_ = error;
  changed_.notify_one();
  if (!piece) return false;
  ranks_[static_cast<size_t>(rank)].assigned[next_] = std::move(piece->name);
  if (rank == 0)
    own_.emplace_back(next_, std::move(piece->bytes));
  else
    messenger.send(rank, write_work(WorkMessage::piece, next_, piece->bytes));
  ++next_;
  return true;
}

/// Tells the others that there is no more work, and waits until all have left. One that was slow to
/// start may only now report that it cannot work.
void Coordinator::end(Messenger& messenger) {
  for (const int rank : others_) messenger.send(rank, write_work(WorkMessage::end));
  const auto begin = std::chrono::steady_clock::now();
  for (size_t left = 0; left < others_.size() || !messenger.flushed();) {
    if (std::chrono::steady_clock::now() - begin > kLeaveTimeout) return;
    messenger.answer();
    while (const auto message = messenger.try_receive())
      if (read(*message).kind == WorkMessage::bye) ++left;
    std::this_thread::sleep_for(kWorkPollInterval);
  }
}

/// Tells the others that this rank ends with an error. Some may not receive it any more.
void Coordinator::stop(Messenger& messenger) {
  {
    const MutexLock lock(mutex_);
    failed_ = true;
    changed_.notify_one();
  }
  for (const int rank : others_) messenger.send(rank, write_work(WorkMessage::stop));
  const auto begin = std::chrono::steady_clock::now();
  while (!messenger.flushed() && std::chrono::steady_clock::now() - begin < kStopTimeout)
    std::this_thread::sleep_for(kWorkPollInterval);
}

/// "; missing: lines 3 to 4, line 7" for the pieces of a rank.
std::string Coordinator::missing_of(int rank) const {
  const MutexLock lock(mutex_);
  std::string names;
  if (rank > 0)
    for (const auto& [number, name] : ranks_[static_cast<size_t>(rank)].assigned)
      names += (names.empty() ? "; missing: " : ", ") + name;
  return names;
}

/// " before lines 3 to 4": the first piece whose result is missing.
std::string Coordinator::first_missing() const {
  const MutexLock lock(mutex_);
  std::map<uint64_t, std::string> first;
  for (const Rank& rank : ranks_)
    if (!rank.assigned.empty()) first.insert(*rank.assigned.begin());
  return first.empty() ? "" : " before " + first.begin()->second;
}

}  // namespace

void share_work(Group& group, uint64_t fingerprint, const WorkSource& source,
                const Compute& compute) {
  require(!group.alone(), "work is shared among several ranks, and there is one");
  if (group.is_root())
    Coordinator(group, fingerprint, source, compute).run();
  else
    compute_for_root(group, fingerprint, compute);
}

void end_work(Group& group) {
  if (!group.alone()) Coordinator(group, 0, {}, {}).stop_before_start();
}

}  // namespace heed::distribute
