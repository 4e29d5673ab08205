#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/lines/line_answers.h"
#include "heed/base/descriptor.h"

namespace heed::cli {

/// How far the lines of standard input are answered.
struct LineProgress {
  int64_t lines = 0;
  uint64_t hash = 0;         // of these lines
  std::vector<double> sums;  // of the columns of LineAnswer::rows
};

/// Where answers go: standard output, memory, or a file that a later run continues. Beside the file
/// lies FILE.progress, which says how far it is complete; what a killed run has written beyond that
/// is dropped.
class AnswerOutput {
 public:
  /// Standard output. LineAnswers have rows of `columns` numbers.
  explicit AnswerOutput(size_t columns) : sums_(columns) { progress_.sums = sums_; }
  /// Appends the answers to `kept`, and adds up no columns.
  explicit AnswerOutput(std::vector<LineAnswer>& kept) : kept_(&kept) {}
  /// A file, which is continued if it exists. `model` stands for what answers depend on. Throws
  /// Error, with the system's reason, when the file cannot be written; when it has no FILE.progress
  /// or another model; and when another run writes it.
  AnswerOutput(size_t columns, std::filesystem::path path, uint64_t model);

  const LineProgress& progress() const { return progress_; }
  /// Throws Error on lines of the input that are not those which are answered already.
  void require_same_lines(int64_t lines, uint64_t hash) const;

  void put(const std::vector<LineAnswer>& answers);
  /// All lines up to `lines` are answered. `hash` is theirs. Recorded at most about once a second.
  void reach(int64_t lines, uint64_t hash);
  /// Records what has been reached.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void read_progress();
  void record();

  std::vector<LineAnswer>* kept_ = nullptr;
  std::filesystem::path path_, progress_path_;
  uint64_t model_ = 0;
  std::optional<Descriptor> lock_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  LineProgress progress_;
  int64_t bytes_ = 0;         // of the file, when progress_ was reached
  std::vector<double> sums_;  // of all that has been put
  int64_t written_ = 0;
  Clock::time_point recorded_ = Clock::now();
};

}  // namespace heed::cli
