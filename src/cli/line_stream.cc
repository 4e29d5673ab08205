#include "cli/line_stream.h"

#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/text/utf8.h"

namespace heed::cli {

void require_utf8(std::string_view text, std::string_view what) {
  const size_t bad = text::first_invalid_utf8(text);
  if (bad != std::string_view::npos)
    fail("{} is not valid UTF-8: byte {} is 0x{:02X}", what, bad + 1,
         static_cast<uint8_t>(text[bad]));
}

LineStream::LineStream(std::istream& in)
    : reader_([this, &in] {
        std::string line;
        while (std::getline(in, line)) {
          if (!line.empty() && line.back() == '\r') line.pop_back();
          std::unique_lock lock(mutex_);
          changed_.wait(lock, [&] { return lines_.size() < kMostLines || abandoned_; });
          if (abandoned_) return;
          lines_.push_back(std::move(line));
          changed_.notify_all();
        }
        std::lock_guard lock(mutex_);
        ended_ = true;
        changed_.notify_all();
      }) {}

LineStream::~LineStream() {
  bool ended = false;
  {
    std::lock_guard lock(mutex_);
    abandoned_ = true;
    ended = ended_;
    changed_.notify_all();
  }
  // A reader that still waits for input cannot be woken; the process ends without it.
  if (ended)
    reader_.join();
  else
    reader_.detach();
}

std::vector<std::string> LineStream::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !lines_.empty() || ended_; });
  std::vector<std::string> some;
  for (; !lines_.empty() && text::is_valid_utf8(lines_.front()); lines_.pop_front())
    some.push_back(std::move(lines_.front()));
  handed_over_ += some.size();
  if (some.empty() && !lines_.empty())
    require_utf8(lines_.front(), fmt::format("line {} of standard input", handed_over_ + 1));
  changed_.notify_all();
  return some;
}

}  // namespace heed::cli
