#pragma once

#include <string_view>

#include "heed/chat.h"

namespace heed::cli {

/// Prints an answer while it is generated. On a terminal, reasoning is dim and control characters
/// that the answer may contain are not executed.
class ChatPrinter {
 public:
  explicit ChatPrinter(bool terminal) : terminal_(terminal) {}

  void print(const ChatAnswer& part);
  /// Ends the answer's last line.
  void finish();

 private:
  void write(std::string_view text);
  void begin(bool reasoning);

  bool terminal_;
  bool reasoning_ = false;  // the last text was reasoning
  bool line_open_ = false;  // the last text did not end a line
};

}  // namespace heed::cli
