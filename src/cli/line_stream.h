#pragma once

#include <memory>
#include <string>
#include <vector>

namespace heed::cli {

/// Lines of standard input as they come: next() waits for at least one and hands over all that are
/// there, so that a file is taken in large pieces and a line typed at a terminal is answered at
/// once.
class LineStream {
 public:
  LineStream();
  ~LineStream();
  LineStream(const LineStream&) = delete;
  LineStream& operator=(const LineStream&) = delete;

  /// Empty at the end of the stream. Throws Error on a line that is not valid UTF-8, and when
  /// standard input cannot be read, once the lines before were handed over.
  std::vector<std::string> next();

 private:
  struct Shared;

  std::shared_ptr<Shared> shared_;
  size_t handed_over_ = 0;
};

}  // namespace heed::cli
