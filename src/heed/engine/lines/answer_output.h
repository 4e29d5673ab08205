#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/descriptor.h"
#include "heed/lines.h"

namespace heed::engine {

/// The lines of the input that are answered.
struct LineProgress {
  int64_t lines = 0;
  uint64_t hash = 0;         // of these lines
  std::vector<double> sums;  // of the columns of LineAnswer::rows
};

/// Writes answers to a function, or to a file that a later run continues (LineOptions::resume).
class AnswerOutput {
 public:
  using Write = std::function<void(const std::vector<LineAnswer>& answers)>;

  /// Adds up the rows of answers, which have `columns` numbers; 0: none.
  AnswerOutput(size_t columns, Write write) : write_(std::move(write)), sums_(columns) {
    progress_.sums = sums_;
  }
  /// A file, which is continued if it exists. `model` stands for what answers depend on. Throws
  /// Error, with the system's reason, when the file cannot be written; when it has no FILE.progress
  /// or another model; and when another run writes it.
  AnswerOutput(size_t columns, std::filesystem::path path, uint64_t model);

  const LineProgress& progress() const { return progress_; }
  /// Throws Error on lines of `input` that are not those which are answered already.
  void require_same_lines(int64_t lines, uint64_t hash, const std::string& input) const;

  void put(const std::vector<LineAnswer>& answers);
  /// Notes that all lines up to `lines`, whose hash is `hash`, are answered. Writes the progress
  /// about once a second at most.
  void set_progress(int64_t lines, uint64_t hash);
  /// Writes the progress.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void read_progress();
  void write_progress();

  Write write_;  // unless there is a file
  std::filesystem::path path_, progress_path_;
  uint64_t model_ = 0;
  std::optional<Descriptor> lock_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  LineProgress progress_;
  int64_t bytes_ = 0;         // of the file, at progress_
  std::vector<double> sums_;  // of all that has been put
  int64_t written_ = 0;
  Clock::time_point progress_written_ = Clock::now();
};

}  // namespace heed::engine
