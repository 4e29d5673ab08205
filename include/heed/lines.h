#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heed/export.h"
#include "heed/load_options.h"
#include "heed/model.h"

namespace heed {

/// The text that is written for a line, and rows of numbers, whose columns are added up over all
/// lines.
struct LineAnswer {
  LineAnswer() = default;
  /// A text, with the numbers of its rows.
  LineAnswer(std::string written, std::vector<double> numbers = {})
      : text(std::move(written)), rows(std::move(numbers)) {}

  std::string text;          // with its line ends
  std::vector<double> rows;  // one after the other
};

/// Lines and the number of the first one, counted from 1.
struct NumberedLines {
  int64_t first = 1;               // its number
  std::vector<std::string> lines;  // without their ends
};

/// Appends the answers of the lines, in order; on Error, of some of them. An answer must not depend
/// on the other lines: how many there are depends on how fast they arrive.
using AnswerLines =
    std::function<void(const NumberedLines& lines, std::vector<LineAnswer>& answers)>;

/// `batch(lines, first)` returns one result for each line, `answer(result, number)` its LineAnswer.
template <typename Batch, typename Answer>
AnswerLines answer_in_batches(Batch batch, Answer answer) {
  return [=](const NumberedLines& lines, std::vector<LineAnswer>& answers) {
    auto results = batch(lines.lines, lines.first);
    for (size_t i = 0; i < results.size(); ++i)
      answers.emplace_back(answer(results[i], lines.first + static_cast<int64_t>(i)));
  };
}

/// `answer` is called with each line and its number. Its Errors get the number of the line.
HEED_EXPORT AnswerLines
answer_one_by_one(std::function<LineAnswer(const std::string& line, int64_t number)> answer);

/// Options of a LineProcessor.
struct LineOptions {
  /// Sets the next line, without its end, and returns true; false at the end. Called on a thread of
  /// its own, which may still wait for a line when everything else has ended. What it throws is
  /// thrown once all lines before it are answered.
  std::function<bool(std::string& line)> read = {};
  std::string input_name = "standard input";  // in errors
  /// Takes answers, in order, unless they go to `resume`.
  std::function<void(const std::vector<LineAnswer>& answers)> write = {};
  /// A file for the texts of the answers, which is continued if it exists. FILE.progress beside it
  /// says how far it is complete; what a killed run has written beyond that is dropped.
  std::filesystem::path resume = {};
  std::chrono::seconds rank_timeout{60};  // after which a rank that does not answer is missing
  bool tensor_parallel = false;           // ranks share the model instead of the lines
  /// Called before ranks begin to share; from then on `interrupted` is asked.
  std::function<void()> on_sharing = {};
  /// Whether this process is to end: then a rank that does not answer at once is missing. Called by
  /// other threads, too.
  std::function<bool()> interrupted = {};
};

/// Sums of the columns of LineAnswer::rows.
struct LineSums {
  std::vector<double> all;   // over all lines
  std::vector<double> here;  // over those that LineOptions::resume did not find answered
};

/// Answers lines in order. Under a launcher (see ranks.h) the ranks share the lines, or with
/// LineOptions::tensor_parallel the model; rank 0 alone reads and writes. All ranks make the same
/// calls with the same options.
class HEED_EXPORT LineProcessor {
 public:
  /// Joins the ranks. To be called once in a process, before anything is read or loaded. Throws
  /// Error on one rank for what keeps a rank from joining, and ReportedElsewhere on the others.
  explicit LineProcessor(LineOptions options);
  LineProcessor(LineProcessor&&) noexcept;
  /// Tells the other ranks to end, if an error of rank 0 ends this. After a ReportedElsewhere it
  /// waits for the report, up to 5 seconds.
  ~LineProcessor();

  /// Whether this is rank 0.
  bool is_root() const;
  /// If ranks share the model, LoadOptions::parts becomes this rank's part of it.
  void divide(LoadOptions& options) const;
  /// Returns load(), on every rank. Rank 0 reports an Error of another one, in answer().
  Model load(const std::function<Model()>& load) const;

  /// Answers the lines with `model`. Returns the sums of `columns` on rank 0, none on the others.
  /// Throws Error for the first line that cannot be answered after all before it have been; when
  /// `resume` cannot be written, is written by another run, or answers other lines or another
  /// model; and when a rank is lost, fails, or has another model or build, naming it and its lines.
  /// The ranks other than 0 throw ReportedElsewhere then.
  LineSums answer(const Model& model, const AnswerLines& answer, size_t columns = 0);
  /// The answers to the lines, which are not written; on rank 0, none on the others. Throws as
  /// answer() does.
  std::vector<LineAnswer> collect(const Model& model, const AnswerLines& answer);
  /// Answers `parts` of the input, which only rank 0 has, in the place of its lines. `kind` names
  /// them in errors: "window".
  LineSums answer_parts(const std::string& kind, std::vector<std::string> parts, const Model& model,
                        const AnswerLines& answer, size_t columns);
  /// Writes a last line, on rank 0 after the answers. A later run with `resume` writes it anew.
  void conclude(const std::string& line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heed
