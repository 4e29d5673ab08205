#include "cli/download_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "cli/bytes_text.h"
#include "heed/train/duration.h"

namespace heed::cli {
namespace {

std::string size_text(uint64_t bytes) { return bytes_text(static_cast<int64_t>(bytes)); }

}  // namespace

void DownloadLine::show(const DownloadProgress& progress) {
  const Clock::time_point now = Clock::now();
  const std::string what =
      fmt::format("{} ({} file{}, {})", progress.model, progress.total_files,
                  progress.total_files == 1 ? "" : "s", size_text(progress.total_bytes));
  if (!std::exchange(begun_, true)) {
    start_ = now;
    bytes_at_start_ = progress.bytes;
    line_.print(fmt::format("downloading {}", what));
  }
  const double seconds = std::chrono::duration<double>(now - start_).count();
  if (progress.files == progress.total_files)
    return line_.print(fmt::format("downloaded {} in {}", what, train::duration_text(seconds)));
  if (progress.waiting && !std::exchange(waiting_, true))
    line_.print("waiting for another process that downloads the same file");
  show_status(progress, seconds);
}

void DownloadLine::show_status(const DownloadProgress& progress, double seconds) {
  // The first figures come with the first bytes.
  if (progress.bytes == bytes_at_start_ || !line_.is_due(seconds)) return;
  const double rate =
      static_cast<double>(progress.bytes - std::min(progress.bytes, bytes_at_start_)) /
      std::max(seconds, 1e-3);
  const double left =
      static_cast<double>(progress.total_bytes - progress.bytes) / std::max(rate, 1.0);
  const std::string bar = line_.on_terminal()
                              ? progress_bar(static_cast<int64_t>(progress.bytes),
                                             static_cast<int64_t>(progress.total_bytes))
                              : "";
  line_.show(fmt::format("{}{} of {}  {}/s  {} left", bar, size_text(progress.bytes),
                         size_text(progress.total_bytes), size_text(static_cast<uint64_t>(rate)),
                         train::duration_text(left)));
}

}  // namespace heed::cli
