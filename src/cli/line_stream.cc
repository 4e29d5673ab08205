#include "cli/line_stream.h"

#include <fmt/format.h>

#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <iostream>
#include <mutex>
#include <thread>

#include "heed/base/error.h"
#include "heed/text/utf8.h"

namespace heed::cli {

/// Shared with the thread that reads. It may wait for input for ever and cannot be woken, so it is
/// on its own and keeps what it touches alive.
struct LineStream::Shared {
  static constexpr size_t kMostLines = 2048;

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> lines;
  bool ended = false;
  bool abandoned = false;
  std::exception_ptr error;  // what ended it, if not the end of the stream

  void read() {
    std::exception_ptr found;
    try {
      read_lines();
    } catch (...) {
      found = std::current_exception();
    }
    std::lock_guard lock(mutex);
    error = found;
    ended = true;
    changed.notify_all();
  }

 private:
  void read_lines() {
    std::string line;
    for (errno = 0; std::getline(std::cin, line); errno = 0) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return lines.size() < kMostLines || abandoned; });
      if (abandoned) return;
      lines.push_back(std::move(line));
      changed.notify_all();
    }
    const int problem = errno;
    require(!std::ferror(stdin), "standard input cannot be read: {}", std::strerror(problem));
    // What getline() makes of a line that finds no memory.
    require(!std::cin.bad(), "standard input has a line that is too long for the memory");
  }
};

LineStream::LineStream() : shared_(std::make_shared<Shared>()) {
  std::thread([shared = shared_] { shared->read(); }).detach();
}

LineStream::~LineStream() {
  std::lock_guard lock(shared_->mutex);
  shared_->abandoned = true;
  shared_->changed.notify_all();
}

std::vector<std::string> LineStream::next() {
  std::unique_lock lock(shared_->mutex);
  std::deque<std::string>& lines = shared_->lines;
  shared_->changed.wait(lock, [&] { return !lines.empty() || shared_->ended; });
  std::vector<std::string> some;
  for (; !lines.empty() && text::is_valid_utf8(lines.front()); lines.pop_front())
    some.push_back(std::move(lines.front()));
  handed_over_ += some.size();
  if (some.empty() && !lines.empty())
    text::require_utf8(lines.front(), fmt::format("line {} of standard input", handed_over_ + 1));
  if (some.empty() && shared_->error) std::rethrow_exception(shared_->error);
  shared_->changed.notify_all();
  return some;
}

}  // namespace heed::cli
