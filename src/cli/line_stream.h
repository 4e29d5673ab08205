#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heed::cli {

/// Throws Error unless what the user gave is valid UTF-8: "the prompt is not valid UTF-8: byte 3 is
/// 0xFF".
void require_utf8(std::string_view text, std::string_view what);

/// Lines of standard input as they come: next() waits for at least one and hands over all that are
/// there, so that a file is taken in large pieces and a line typed at a terminal is answered at
/// once.
class LineStream {
 public:
  LineStream();
  ~LineStream();
  LineStream(const LineStream&) = delete;
  LineStream& operator=(const LineStream&) = delete;

  /// Empty at the end of the stream. Throws Error on a line that is not valid UTF-8, once those
  /// before it were handed over.
  std::vector<std::string> next();

 private:
  struct Shared;

  std::shared_ptr<Shared> shared_;
  size_t handed_over_ = 0;
};

}  // namespace heed::cli
