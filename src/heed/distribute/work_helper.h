#pragma once

#include <atomic>
#include <deque>
#include <vector>

#include "heed/base/mutex.h"
#include "heed/distribute/shared_work.h"
#include "heed/distribute/work_messages.h"

namespace heed::distribute {

/// A rank of share_work() other than 0. The group's thread exchanges letters with rank 0, so that a
/// long piece does not keep it from answering; the calling thread computes.
class WorkHelper {
 public:
  explicit WorkHelper(Group& group) : group_(group) {}
  void run(uint64_t fingerprint, const Compute& compute);
  /// Reports an error to rank 0 in place of run().
  void fail_with(const std::string& error);

 private:
  void work(const Compute& compute);
  void exchange(Messenger& messenger);
  bool hear(Messenger& messenger);
  bool send(Messenger& messenger);
  void leave(Messenger& messenger);
  void put(std::string letter);

  Group& group_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<std::pair<uint64_t, std::string>> pieces_ HEED_GUARDED_BY(mutex_);
  std::deque<std::string> letters_ HEED_GUARDED_BY(mutex_);  // to rank 0
  bool ended_ HEED_GUARDED_BY(mutex_) = false;               // rank 0 has no more pieces
  std::atomic<bool> failed_ = false;
  std::future<void> exchange_;
};

}  // namespace heed::distribute
