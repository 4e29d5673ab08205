#pragma once

#include <memory>
#include <string>
#include <vector>

namespace heed::cli {

/// The lines of standard input as they arrive, without line ends ("\n" or "\r\n"). next() waits for
/// at least one line and returns all lines read so far: large batches of a file, a single line
/// typed at a terminal.
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
  size_t returned_ = 0;  // number of lines
};

}  // namespace heed::cli
