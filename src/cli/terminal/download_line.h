#pragma once

#include <chrono>
#include <cstdint>

#include "cli/terminal/status_line.h"
#include "heed/hub.h"

namespace heed::cli {

/// Shows the progress of a download on standard error: a line at its beginning and at its end, and
/// a StatusLine between them.
class DownloadLine {
 public:
  ~DownloadLine() { line_.clear(); }

  void show(const DownloadProgress& progress);

 private:
  using Clock = std::chrono::steady_clock;

  /// `seconds` since the first call.
  void show_status(const DownloadProgress& progress, double seconds);

  StatusLine line_;
  bool begun_ = false, waiting_ = false;
  Clock::time_point start_;
  int64_t bytes_at_start_ = 0;
};

}  // namespace heed::cli
