#include "cli/line_stream.h"

namespace heed::cli {

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
  std::vector<std::string> some(std::make_move_iterator(lines_.begin()),
                                std::make_move_iterator(lines_.end()));
  lines_.clear();
  changed_.notify_all();
  return some;
}

}  // namespace heed::cli
