#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "heed/base/mutex.h"
#include "heed/serve/call.h"

namespace heed::serve {

/// The threads that read requests: JSON, chat templates, tokenizers. Requests with long bodies have
/// a thread of their own, which takes the shortest of them first: however many wait, a short
/// request does not wait for them. May be used by any thread.
class Readers {
 public:
  Readers();
  ~Readers() { stop(); }
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  /// Calls `read` on a thread, unless the call is cancelled by then. What it throws answers the
  /// call. check_interrupted() ends it when the call is cancelled or its deadline has passed, and
  /// when the readers end.
  void post(std::shared_ptr<Call> call, std::function<void()> read);

  /// The number of long ones that wait.
  int64_t waiting_long() const;

  /// Interrupts what is being read, drops what waits, and waits for the threads.
  void stop();

  /// The size of a body, in bytes, from which on it is long.
  static constexpr size_t kLongBody = size_t{64} << 10;
  static bool is_long(const Call& call) { return call.request().body.size() >= kLongBody; }

 private:
  struct Work {
    std::shared_ptr<Call> call;
    std::function<void()> read;
  };
  /// Work that waits, and its threads.
  struct Lane {
    mutable Mutex mutex;
    ConditionVariable posted;
    /// Those with a lower key first, the oldest of them.
    std::multimap<size_t, Work> waiting HEED_GUARDED_BY(mutex);
    std::vector<std::thread> threads;
  };

  void loop(Lane& lane);
  void run(const Work& work);

  std::atomic<bool> ended_ = false;
  Lane short_, long_;
};

}  // namespace heed::serve
