#pragma once

#include <memory>

#include "heed/export.h"

namespace heed {

class ThreadPool;

/// Threads that calls compute on: the calling thread and the Executor's own, which start with the
/// first computation and sleep while there is none.
///
/// Several threads may compute on one Executor at a time. While it is busy with one call's work,
/// the work of other calls runs on their own threads alone: no call waits for another. Results do
/// not depend on it in a single bit.
class HEED_EXPORT Executor {
 public:
  /// `threads` includes the calling thread: 1 to 1024, or 0 for the processors that this process
  /// may run on. Throws Error when it is out of range. If the system cannot start that many
  /// threads, computing throws Error.
  explicit Executor(int threads = 0);
  /// Nothing may compute on it any more. Ends its threads.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  int threads() const;

  /// The Executor of all callers that choose none, with all processors. It is made by the first
  /// call and lives as long as the process. Like any thread, its threads are missing in a forked
  /// child, which has to use an Executor of its own or to call restart_after_fork() (fork.h).
  static const std::shared_ptr<Executor>& shared();

 private:
  friend ThreadPool& pool_of(const Executor& executor);

  const std::unique_ptr<ThreadPool> pool_;
};

}  // namespace heed
