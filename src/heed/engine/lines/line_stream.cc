#include "heed/engine/lines/line_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "heed/base/utf8.h"

namespace heed::engine {

/// Shared with the reading thread, which may block in a read forever. It cannot be woken, so it is
/// detached and shares the ownership of what it uses.
struct LineStream::Shared {
  const std::function<bool(std::string&)> next_line;
  // The thread stops reading while this much is waiting for next().
  const size_t max_lines;
  static constexpr size_t kMaxBytes = size_t{64} << 20;

  Shared(std::function<bool(std::string&)> read_line, size_t ahead)
      : next_line(std::move(read_line)), max_lines(ahead) {}

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
    for (std::string line; next_line(line);) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] {
        return abandoned || lines.empty() ||
               (lines.size() < max_lines && bytes + line.size() <= kMaxBytes);
      });
      if (abandoned) return;
      bytes += line.size();
      lines.push_back(std::move(line));
      changed.notify_all();
    }
  }
};

std::vector<std::string> InMemoryLines::next(size_t most) {
  std::vector<std::string> some;
  while (some.size() < most && next_ < lines_.size()) some.push_back(std::move(lines_[next_++]));
  return some;
}

std::vector<std::string> InMemoryLines::next_available(size_t parts, size_t most, bool& ended) {
  std::vector<std::string> some = next(std::min((lines_.size() - next_ + parts - 1) / parts, most));
  ended = next_ == lines_.size();
  return some;
}

LineStream::LineStream(std::function<bool(std::string&)> read, std::string name, size_t ahead)
    : name_(std::move(name)), shared_(std::make_shared<Shared>(std::move(read), ahead)) {
  std::thread([shared = shared_] { shared->read(); }).detach();
}

LineStream::~LineStream() {
  std::lock_guard lock(shared_->mutex);
  shared_->abandoned = true;
  shared_->changed.notify_all();
}

/// The lock is held.
std::vector<std::string> LineStream::take(size_t most) {
  std::deque<std::string>& lines = shared_->lines;
  std::vector<std::string> some;
  for (; !lines.empty() && some.size() < most && is_valid_utf8(lines.front()); lines.pop_front()) {
    shared_->bytes -= lines.front().size();
    some.push_back(std::move(lines.front()));
  }
  returned_ += some.size();
  if (some.empty() && !lines.empty())
    require_utf8(lines.front(), fmt::format("line {} of {}", returned_ + 1, name_));
  if (some.empty() && shared_->error) std::rethrow_exception(shared_->error);
  shared_->changed.notify_all();
  return some;
}

std::vector<std::string> LineStream::next(size_t most) {
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait(lock, [&] { return !shared_->lines.empty() || shared_->ended; });
  return take(most);
}

std::vector<std::string> LineStream::next_available(size_t parts, size_t most, bool& ended) {
  const std::lock_guard lock(shared_->mutex);
  const size_t part = (shared_->lines.size() + parts - 1) / parts;
  std::vector<std::string> some = take(std::min(part, most));
  ended = shared_->ended && shared_->lines.empty() && !shared_->error;
  return some;
}

}  // namespace heed::engine
