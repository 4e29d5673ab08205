#pragma once

#include <condition_variable>
#include <deque>
#include <istream>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace heed::cli {

/// Throws Error unless what the user gave is valid UTF-8: "the prompt is not valid UTF-8: byte 3 is
/// 0xFF".
void require_utf8(std::string_view text, std::string_view what);

/// Lines as they come: next() waits for at least one and hands over all that are there, so that a
/// file is taken in large pieces and a line typed at a terminal is answered at once.
class LineStream {
 public:
  explicit LineStream(std::istream& in);
  ~LineStream();

  /// Empty at the end of the stream. Throws Error on a line that is not valid UTF-8, once those
  /// before it were handed over.
  std::vector<std::string> next();

 private:
  static constexpr size_t kMostLines = 2048;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  size_t handed_over_ = 0;
  bool ended_ = false;
  bool abandoned_ = false;
  std::thread reader_;
};

}  // namespace heed::cli
