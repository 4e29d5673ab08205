#include "heed/distribute/work_root.h"

#include <algorithm>

#include "heed/base/interrupt.h"

namespace heed::distribute {
namespace {

/// Pieces that a rank has at a time: one that it computes, and the next.
constexpr size_t kPiecesOfRank = 2;
/// Pieces for each rank that are handed out before the first of them has been taken.
constexpr uint64_t kWindow = 8;

}  // namespace

WorkRoot::WorkRoot(Group& group, uint64_t fingerprint, const WorkSource& source,
                   const Compute& compute)
    : group_(group),
      fingerprint_(fingerprint),
      source_(source),
      compute_(compute),
      ranks_(static_cast<size_t>(group.size())) {
  ranks_[0].ready = true;
  for (int rank = 1; rank < group.size(); ++rank) others_.push_back(rank);
}

void WorkRoot::run() {
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

void WorkRoot::end_early() {
  group_.run([this](Messenger& messenger) { stop(messenger); }).wait();
}

/// Waits until there is a result to take or a piece to compute; false at the end.
bool WorkRoot::wait_for_work(MutexLock& lock) {
  while (!results_.contains(taken_) && (own_.empty() || failed_)) {
    if (failed_ || complete()) return false;
    changed_.wait(lock);
  }
  return true;
}

void WorkRoot::work() {
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
      continue;  // takes what comes before the failure
    }
    lock.lock();
    results_[number] = std::move(result);
    ranks_[0].has.erase(number);
  }
  if (!failed_ && source_error_) std::rethrow_exception(source_error_);
}

void WorkRoot::dispatch(Messenger& messenger) {
  const auto told_to_end = [&] {
    const MutexLock lock(mutex_);
    return done_;
  };
  try {
    while (!told_to_end()) {
      group_.hurried();
      messenger.answer();
      const bool heard = hear(messenger);
      const bool handed = hand_out(messenger);
      if (messenger.watch(others_)) fail("a signal has ended the work{}", first_missing());
      if (!heard && !handed) std::this_thread::sleep_for(kWorkPause);
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

/// Reads a letter. Throws if its sender has failed, or has another fingerprint.
ReadWork WorkRoot::read(const Mailbox::Message& letter) const {
  const ReadWork read = read_work(letter.bytes);
  const std::string name = group_.name_of(letter.from);
  if (read.kind == WorkMessage::failed) fail("{}: {}{}", name, read.bytes, missing_of(letter.from));
  require(read.kind != WorkMessage::hello || read.number == fingerprint_,
          "{} has another model, or another build of heed, than rank 0", name);
  return read;
}

/// Reads letters. Returns whether there were any.
bool WorkRoot::hear(Messenger& messenger) {
  bool any = false;
  while (const auto letter = messenger.take()) {
    any = true;
    const auto [kind, number, bytes] = read(*letter);
    const MutexLock lock(mutex_);
    Rank& rank = ranks_[static_cast<size_t>(letter->from)];
    if (kind == WorkMessage::hello) {
      rank.ready = true;
    } else {
      rank.has.erase(number);
      results_[number] = bytes;
      changed_.notify_one();
    }
  }
  return any;
}

/// Gives each rank a piece before any gets a second one.
bool WorkRoot::hand_out(Messenger& messenger) {
  bool any = false;
  for (size_t pieces = 0; pieces < kPiecesOfRank; ++pieces)
    for (int rank = 0; rank < group_.size(); ++rank) {
      {
        const MutexLock lock(mutex_);
        const Rank& state = ranks_[static_cast<size_t>(rank)];
        if (!state.ready || state.has.size() != pieces) continue;
      }
      if (!hand_to(messenger, rank)) return any;
      any = true;
    }
  return any;
}

/// Gives a rank the next piece, if there is one by now.
bool WorkRoot::hand_to(Messenger& messenger, int rank) {
  {
    const MutexLock lock(mutex_);
    if (ended_ || next_ - taken_ >= kWindow * ranks_.size()) return false;
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
  ranks_[static_cast<size_t>(rank)].has[next_] = std::move(piece->name);
  if (rank == 0)
    own_.emplace_back(next_, std::move(piece->bytes));
  else
    messenger.post(rank, write_work(WorkMessage::piece, next_, piece->bytes));
  ++next_;
  return true;
}

/// Tells the others that there is no more work, and waits until they leave. One that is slow to
/// start may only now say that it cannot work.
void WorkRoot::end(Messenger& messenger) {
  for (const int rank : others_) messenger.post(rank, write_work(WorkMessage::end));
  const auto begin = std::chrono::steady_clock::now();
  for (size_t left = 0; left < others_.size() || !messenger.settled();) {
    if (std::chrono::steady_clock::now() - begin > kWorkLeave) return;
    messenger.answer();
    while (const auto letter = messenger.take())
      if (read(*letter).kind == WorkMessage::bye) ++left;
    std::this_thread::sleep_for(kWorkPause);
  }
}

/// Tells the others that this rank ends with an error, as far as they listen.
void WorkRoot::stop(Messenger& messenger) {
  {
    const MutexLock lock(mutex_);
    failed_ = true;
    changed_.notify_one();
  }
  for (const int rank : others_) messenger.post(rank, write_work(WorkMessage::stop));
  const auto begin = std::chrono::steady_clock::now();
  while (!messenger.settled() && std::chrono::steady_clock::now() - begin < kWorkStopping)
    std::this_thread::sleep_for(kWorkPause);
}

/// "; missing: lines 3 to 4, line 7" for the pieces of a rank.
std::string WorkRoot::missing_of(int rank) const {
  const MutexLock lock(mutex_);
  std::string names;
  if (rank > 0)
    for (const auto& [number, name] : ranks_[static_cast<size_t>(rank)].has)
      names += (names.empty() ? "; missing: " : ", ") + name;
  return names;
}

/// " before lines 3 to 4": the first piece that no rank has done.
std::string WorkRoot::first_missing() const {
  const MutexLock lock(mutex_);
  std::map<uint64_t, std::string> first;
  for (const Rank& rank : ranks_)
    if (!rank.has.empty()) first.insert(*rank.has.begin());
  return first.empty() ? "" : " before " + first.begin()->second;
}

}  // namespace heed::distribute
