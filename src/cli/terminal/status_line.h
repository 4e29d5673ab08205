#pragma once

#include <cstdint>
#include <string>

namespace heed::cli {

/// Progress on standard error: on a terminal one line that is overwritten five times a second,
/// otherwise a new line every 15 seconds.
class StatusLine {
 public:
  StatusLine();

  bool on_terminal() const { return terminal_; }
  /// Whether it is time for a new line, `seconds` after the start. If so, the interval to the next
  /// one begins.
  bool is_due(double seconds);
  void show(const std::string& line);
  /// A line that stays.
  void print(const std::string& line);
  void clear();

 private:
  bool terminal_;
  bool open_ = false;
  double last_shown_ = -1e9;
};

/// "[=====>    ] " for a terminal; empty if `planned` is 0.
std::string progress_bar(int64_t done, int64_t planned);

}  // namespace heed::cli
