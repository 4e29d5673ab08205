#pragma once

#include <condition_variable>
#include <deque>
#include <istream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace heed::cli {

/// Lines as they come: next() waits for at least one and hands over all that are there, so that a
/// file is taken in large pieces and a line typed at a terminal is answered at once.
class LineStream {
 public:
  explicit LineStream(std::istream& in);
  ~LineStream();

  /// Empty at the end of the stream.
  std::vector<std::string> next();

 private:
  static constexpr size_t kMostLines = 2048;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  bool ended_ = false;
  bool abandoned_ = false;
  std::thread reader_;
};

}  // namespace heed::cli
