#include "cli/line_stream.h"

#include <fmt/format.h>

#include <condition_variable>
#include <deque>
#include <iostream>
#include <mutex>
#include <thread>

#include "heed/base/error.h"
#include "heed/text/utf8.h"

namespace heed::cli {

void require_utf8(std::string_view text, std::string_view what) {
  const size_t bad = text::first_invalid_utf8(text);
  if (bad != std::string_view::npos)
    fail("{} is not valid UTF-8: byte {} is 0x{:02X}", what, bad + 1,
         static_cast<uint8_t>(text[bad]));
}

/// With the thread that reads. It may wait for input for ever and cannot be woken, so it is on its
/// own and keeps what it touches alive.
struct LineStream::Shared {
  static constexpr size_t kMostLines = 2048;

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> lines;
  bool ended = false;
  bool abandoned = false;

  void read() {
    std::string line;
    while (std::getline(std::cin, line)) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return lines.size() < kMostLines || abandoned; });
      if (abandoned) return;
      lines.push_back(std::move(line));
      changed.notify_all();
    }
    std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
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
    require_utf8(lines.front(), fmt::format("line {} of standard input", handed_over_ + 1));
  shared_->changed.notify_all();
  return some;
}

}  // namespace heed::cli
