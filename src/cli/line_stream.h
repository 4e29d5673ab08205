#pragma once

#include <memory>
#include <string>
#include <vector>

namespace heed::cli {

/// The lines of standard input as they arrive, without line ends ("\n" or "\r\n"). next() waits for
/// at least one line and returns all that have been read: a file is taken in large batches, a line
/// typed at a terminal at once.
class LineStream {
 public:
  LineStream();
  ~LineStream();
  LineStream(const LineStream&) = delete;
  LineStream& operator=(const LineStream&) = delete;

  /// Empty at the end of standard input. Throws Error on a line that is not valid UTF-8, and when
  /// standard input cannot be read, after all lines before it have been returned.
  std::vector<std::string> next();

 private:
  struct Shared;

  std::shared_ptr<Shared> shared_;
  size_t returned_ = 0;  // lines
};

}  // namespace heed::cli
