#include "cli/line_stream.h"

#include <fmt/format.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "cli/standard_input.h"
#include "heed/text/utf8.h"

namespace heed::cli {

/// Shared with the reading thread, which may block in a read forever. It cannot be woken, so it is
/// detached and shares the ownership of what it uses.
struct LineStream::Shared {
  // The thread stops reading while this much is waiting for next().
  static constexpr size_t kMaxLines = 2048;
  static constexpr size_t kMaxBytes = size_t{64} << 20;

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> lines;
  size_t bytes = 0;  // of `lines`
  bool ended = false;
  bool abandoned = false;
  std::exception_ptr error;  // what ended the stream; null: end of file

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
    for (std::string line; read_line(line);) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] {
        return abandoned || lines.empty() ||
               (lines.size() < kMaxLines && bytes + line.size() <= kMaxBytes);
      });
      if (abandoned) return;
      bytes += line.size();
      lines.push_back(std::move(line));
      changed.notify_all();
    }
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
  for (; !lines.empty() && text::is_valid_utf8(lines.front()); lines.pop_front()) {
    shared_->bytes -= lines.front().size();
    some.push_back(std::move(lines.front()));
  }
  returned_ += some.size();
  if (some.empty() && !lines.empty())
    text::require_utf8(lines.front(), fmt::format("line {} of standard input", returned_ + 1));
  if (some.empty() && shared_->error) std::rethrow_exception(shared_->error);
  shared_->changed.notify_all();
  return some;
}

}  // namespace heed::cli
