#include "cli/terminal/download_line.h"

#include <gtest/gtest.h>

namespace heed::cli {
namespace {

DownloadProgress progress_of(uint64_t bytes, int files, bool waiting = false) {
  return {.model = "acme/tiny",
          .bytes = bytes,
          .total_bytes = 94600000,
          .files = files,
          .total_files = 2,
          .waiting = waiting};
}

/// What is written to standard error, which is a file here.
std::string shown(const std::vector<DownloadProgress>& reports) {
  testing::internal::CaptureStderr();
  DownloadLine line;
  for (const DownloadProgress& progress : reports) line.show(progress);
  return testing::internal::GetCapturedStderr();
}

TEST(DownloadLine, ShowsTheBeginningAndTheEnd) {
  const std::string text = shown({progress_of(0, 0), progress_of(94600000, 2)});
  EXPECT_EQ(text,
            "downloading acme/tiny (2 files, 94.6 MB)\n"
            "downloaded acme/tiny (2 files, 94.6 MB) in 0:00\n");
}

TEST(DownloadLine, ShowsNothingElseInTheFirst15SecondsUnlessOnATerminal) {
  EXPECT_EQ(shown({progress_of(0, 0), progress_of(1000000, 0), progress_of(2000000, 0)}),
            "downloading acme/tiny (2 files, 94.6 MB)\n");
}

TEST(DownloadLine, SaysOnceThatAnotherProcessDownloads) {
  const std::string text =
      shown({progress_of(0, 0, true), progress_of(0, 0, true), progress_of(94600000, 2)});
  EXPECT_EQ(text,
            "downloading acme/tiny (2 files, 94.6 MB)\n"
            "waiting for another process that downloads the same file\n"
            "downloaded acme/tiny (2 files, 94.6 MB) in 0:00\n");
}

}  // namespace
}  // namespace heed::cli
