#include "cli/terminal/download_line.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "cli/terminal/bytes_text.h"
#include "heed/base/duration.h"

namespace heed::cli {

void DownloadLine::show(const DownloadProgress& progress) {
  const Clock::time_point now = Clock::now();
  const std::string what = fmt::format("{} ({} file{}, {})", progress.model, progress.total_files,
                                       progress.total_files == 1 ? "" : "s",
                                       bytes_text(static_cast<int64_t>(progress.total_bytes)));
  if (!std::exchange(begun_, true)) {
    start_ = now;
    bytes_at_start_ = static_cast<int64_t>(progress.bytes);
    line_.print(fmt::format("downloading {}", what));
    line_.is_due(0);  // the next line comes an interval later
  }
  const double seconds = std::chrono::duration<double>(now - start_).count();
  if (progress.files == progress.total_files)
    return line_.print(fmt::format("downloaded {} in {}", what, duration_text(seconds)));
  if (progress.waiting && !std::exchange(waiting_, true))
    line_.print("waiting for another process that downloads the same file");
  show_status(progress, seconds);
}

void DownloadLine::show_status(const DownloadProgress& progress, double seconds) {
  if (!line_.is_due(seconds)) return;
  const auto done = static_cast<int64_t>(progress.bytes);
  const auto total = static_cast<int64_t>(progress.total_bytes);
  std::string text = line_.on_terminal() ? progress_bar(done, total) : "";
  text += fmt::format("{} of {}", bytes_text(done), bytes_text(total));
  // A rate that means something takes a while.
  constexpr double kShortest = 2;  // seconds
  const double rate = static_cast<double>(done - bytes_at_start_) / seconds;
  if (seconds >= kShortest && rate >= 1)
    text += fmt::format("  {}/s  {} left", bytes_text(static_cast<int64_t>(rate)),
                        duration_text(static_cast<double>(total - done) / rate));
  line_.show(text);
}

}  // namespace heed::cli
