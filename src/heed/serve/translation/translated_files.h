#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "heed/base/mutex.h"

namespace heed::serve {

/// Translated files until their clients fetch them: in memory, for an hour, and of more than 64 MiB
/// the latest. May be used by any thread.
class TranslatedFiles {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::hours kTime{1};
  static constexpr size_t kMaxBytes = size_t{64} << 20;

  /// Keeps a file. Its key begins with a random number of 128 bits and ends with `name`.
  std::string add(const std::string& name, std::string content, Clock::time_point now);
  /// The content of a file; null if there is no such file, or none any more.
  std::shared_ptr<const std::string> find(std::string_view key, Clock::time_point now);

 private:
  struct File {
    std::string key;
    std::shared_ptr<const std::string> content;
    Clock::time_point added;
  };
  void drop_old(Clock::time_point now) HEED_REQUIRES(mutex_);

  Mutex mutex_;
  std::deque<File> files_ HEED_GUARDED_BY(mutex_);  // oldest first
  size_t bytes_ HEED_GUARDED_BY(mutex_) = 0;
};

}  // namespace heed::serve
