#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <vector>

#include "heed/base/mutex.h"
#include "heed/distribute/shared_work.h"
#include "heed/distribute/work_messages.h"

namespace heed::distribute {

/// Rank 0 of share_work(). The group's thread hands pieces out and receives results; the calling
/// thread takes results and computes pieces, too.
class WorkRoot {
 public:
  WorkRoot(Group& group, uint64_t fingerprint, const WorkSource& source, const Compute& compute);
  void run();
  /// In place of run(): tells the other ranks to end.
  void end_early();

 private:
  struct Rank {
    bool ready = false;
    std::map<uint64_t, std::string> has;  // the names of its pieces
  };

  void work();
  bool wait_for_work(MutexLock& lock) HEED_REQUIRES(mutex_);
  bool complete() const HEED_REQUIRES(mutex_) { return ended_ && taken_ == next_; }
  void dispatch(Messenger& messenger);
  ReadWork read(const Mailbox::Message& letter) const;
  bool hear(Messenger& messenger);
  bool hand_out(Messenger& messenger);
  bool hand_to(Messenger& messenger, int rank);
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
  uint64_t next_ HEED_GUARDED_BY(mutex_) = 0;                                 // pieces handed out
  uint64_t taken_ HEED_GUARDED_BY(mutex_) = 0;                                // results taken
  bool ended_ HEED_GUARDED_BY(mutex_) = false;                                // the source
  std::exception_ptr source_error_ HEED_GUARDED_BY(mutex_);
  bool done_ HEED_GUARDED_BY(mutex_) = false;  // the calling thread is
  std::atomic<bool> failed_ = false;           // either thread
};

}  // namespace heed::distribute
