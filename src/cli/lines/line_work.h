#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/lines/answer_output.h"
#include "cli/lines/line_answers.h"
#include "cli/lines/line_stream.h"
#include "cli/options/options.h"
#include "cli/ranks.h"
#include "cli/terminal/signals.h"
#include "heed/distribute/shared_work.h"
#include "heed/engine/rank_parts.h"
#include "heed/model.h"

namespace heed::cli {

/// Options of the commands that answer standard input line by line.
struct LineOptions {
  std::string input, resume;
  int64_t rank_timeout = 60;     // seconds
  bool tensor_parallel = false;  // ranks share the model instead of the lines
};

/// Adds --input and --rank-timeout.
void add_input_options(Command& command, LineOptions& options);
/// Adds these and --resume.
void add_line_options(Command& command, LineOptions& options);
/// Adds --tensor-parallel.
Option add_tensor_parallel_option(Command& command, LineOptions& options);

/// Sums of the columns of LineAnswer::rows.
struct LineSums {
  std::vector<double> all;   // over all lines
  std::vector<double> here;  // over those that --resume did not find answered
};

/// Answers standard input line by line, in order. Under a launcher the ranks share the lines, or
/// with LineOptions::tensor_parallel the model; rank 0 alone reads and prints.
class LineWork {
 public:
  /// Joins the ranks (see join_ranks()) and opens LineOptions::input as standard input.
  explicit LineWork(const LineOptions& options);
  /// Tells the other ranks to end, if an error of rank 0 ends this.
  ~LineWork();
  LineWork(const LineWork&) = delete;
  LineWork& operator=(const LineWork&) = delete;

  bool alone() const { return group_->alone(); }
  bool is_root() const { return group_->is_root(); }
  /// This rank's part of the model; null: the whole.
  std::shared_ptr<const nn::TensorParallel> parts() const { return parts_; }
  /// What `load` returns, on every rank. Rank 0 reports an Error of another one, in answer().
  template <typename Load>
  auto load(const Load& load) {
    try {
      return load();
    } catch (const Error& error) {
      if (!is_root()) fail_on_rank(error.what());
      throw;
    }
  }

  /// Answers the lines of standard input with `model`. Returns the sums of `columns` on rank 0,
  /// none on the others. Throws Error for the first line that cannot be answered after all before
  /// it have been, and as distribute::share_work() does.
  LineSums answer(const Model& model, const AnswerLines& answer, size_t columns = 0);
  /// The answers to the lines of standard input, which are not printed; on rank 0, none on the
  /// others. Throws as answer() does.
  std::vector<LineAnswer> collect(const Model& model, const AnswerLines& answer);
  /// Answers `parts` of standard input, which only rank 0 has, in the place of its lines. `kind`
  /// names them in errors: "window".
  LineSums answer_parts(const std::string& kind, std::vector<std::string> parts, const Model& model,
                        const AnswerLines& answer, size_t columns);
  /// Writes a last line, on rank 0 after the answers. A later run with --resume writes it anew.
  void conclude(const std::string& line);

 private:
  LineSums answer_all_of(LineSource& source, const std::string& kind, const Model& model,
                         const AnswerLines& answer, size_t columns);
  void share(uint64_t fingerprint, const distribute::WorkSource& source, const AnswerLines& answer);
  [[noreturn]] void fail_on_rank(const std::string& error);

  LineOptions options_;
  std::optional<StopRequest> stop_;  // while lines are shared
  std::optional<AnswerOutput> output_;
  std::shared_ptr<engine::RankParts> parts_;
  std::shared_ptr<distribute::Group> group_;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace heed::cli
