#include "cli/lines/line_work.h"

#include <array>
#include <cstring>
#include <limits>

#include "cli/lines/standard_input.h"
#include "heed/base/hash.h"
#include "heed/distribute/join.h"
#include "heed/distribute/joint_work.h"
#include "heed/distribute/shared_work.h"
#include "heed/engine/loaded_model.h"
#include "heed/engine/model_fingerprint.h"

namespace heed::cli {
namespace {

/// Lines of a piece at most, and for each rank those that are read ahead.
constexpr size_t kLinesOfPiece = 512, kLinesAhead = 2048;

/// Lines with what becomes known of the input once they are answered.
struct Batch {
  NumberedLines lines;
  uint64_t hash = 0;  // of all lines up to the last of these

  int64_t last() const { return lines.first + static_cast<int64_t>(lines.lines.size()) - 1; }
};

/// Numbers lines; those that `output` answers already are skipped.
class InputLines {
 public:
  InputLines(LineSource& source, const AnswerOutput& output) : source_(source) {
    while (last_ < output.progress().lines) {
      const auto missing = static_cast<size_t>(output.progress().lines - last_);
      if (numbered(source_.next(missing)).lines.lines.empty()) break;
    }
    if (output.progress().lines > 0) output.require_same_lines(last_, hash_);
  }

  /// See LineSource.
  Batch next() { return numbered(source_.next(std::numeric_limits<size_t>::max())); }
  Batch next_by_now(size_t parts, bool& ended) {
    return numbered(source_.next_by_now(parts, kLinesOfPiece, ended));
  }

 private:
  Batch numbered(std::vector<std::string> lines) {
    Batch batch{{last_ + 1, std::move(lines)}};
    for (const std::string& line : batch.lines.lines) hash_ = hash_after(hash_, line);
    batch.hash = hash_;
    last_ = batch.last();
    return batch;
  }

  LineSource& source_;
  int64_t last_ = 0;
  uint64_t hash_ = 0;
};

void put(AnswerOutput& output, const Answers& answers, int64_t last, uint64_t hash) {
  output.put(answers.answers);
  if (!answers.error.empty()) {
    output.finish();
    throw Error(answers.error);
  }
  output.reach(last, hash);
}

void answer_alone(InputLines& lines, AnswerOutput& output, const AnswerLines& answer) {
  for (Batch batch = lines.next(); !batch.lines.lines.empty(); batch = lines.next())
    put(output, answer_all(batch.lines, answer), batch.last(), batch.hash);
}

/// Lines as pieces, each a part of what has arrived: large ones of a file, and smaller ones towards
/// its end, so that all ranks end at about the same time (guided
/// self-scheduling, Polychronopoulos and Kuck 1987).
class LinePieces {
 public:
  LinePieces(InputLines& lines, std::string kind, size_t parts)
      : lines_(lines), kind_(std::move(kind)), parts_(parts) {}

  std::optional<distribute::WorkItem> next(bool& ended) {
    const Batch batch = lines_.next_by_now(parts_, ended);
    if (batch.lines.lines.empty()) return std::nullopt;
    // The result brings back what it means for the progress.
    const std::array<uint64_t, 2> reached{static_cast<uint64_t>(batch.last()), batch.hash};
    std::string bytes(reinterpret_cast<const char*>(reached.data()), sizeof(reached));
    return distribute::WorkItem{name_of(batch), bytes + to_bytes(batch.lines)};
  }

  static std::string answered(std::string_view piece, const AnswerLines& answer) {
    constexpr size_t head = 2 * sizeof(uint64_t);
    const Answers answers = answer_all(lines_of(piece.substr(head)), answer);
    return std::string(piece.substr(0, head)) + to_bytes(answers);
  }

  static void take(std::string_view result, AnswerOutput& output) {
    std::array<uint64_t, 2> reached{};
    std::memcpy(reached.data(), result.data(), sizeof(reached));
    put(output, answers_of(result.substr(sizeof(reached))), static_cast<int64_t>(reached[0]),
        reached[1]);
  }

 private:
  /// "lines 401 to 500".
  std::string name_of(const Batch& batch) const {
    const int64_t first = batch.lines.first, last = batch.last();
    return first == last ? fmt::format("{} {}", kind_, last)
                         : fmt::format("{}s {} to {}", kind_, first, last);
  }

  InputLines& lines_;
  std::string kind_;
  size_t parts_;
};

/// What answers depend on: the build and the files of the model.
uint64_t fingerprint_of(const Model& model) {
  return engine::fingerprint_of_files(engine::loaded(model), distribute::hash_of_build());
}

}  // namespace

void add_input_options(Command& command, LineOptions& options) {
  command
      .add_option("--input", options.input,
                  "Read this file instead of standard input, which MPICH's mpirun loses when it is "
                  "long")
      .not_empty();
  command
      .add_option("--rank-timeout", options.rank_timeout,
                  "Under mpirun, where ranks share the lines: seconds after which a rank that does "
                  "not answer is missing")
      .range(int64_t{1}, int64_t{86'400})
      .show_default();
}

void add_line_options(Command& command, LineOptions& options) {
  add_input_options(command, options);
  command
      .add_option("--resume", options.resume,
                  "Write to this file instead of standard output. The same command with the same "
                  "input continues it after an interruption")
      .not_empty();
}

Option add_tensor_parallel_option(Command& command, LineOptions& options) {
  return command.add_flag("--tensor-parallel", options.tensor_parallel,
                          "Under mpirun, divide the model among the ranks instead of the lines");
}

LineWork::LineWork(const LineOptions& options)
    : options_(options),
      group_(join_ranks([this] { return stop_ && stop_->requested(); },
                        {.wait = std::chrono::seconds(options.rank_timeout)})) {
  if (options.tensor_parallel && !alone())
    parts_ = std::make_shared<engine::RankParts>(group_->rank(), group_->size());
  if (!is_root() || options.input.empty()) return;
  try {
    read_as_standard_input(options.input);
  } catch (const Error&) {
    distribute::end_work(*group_);
    throw;
  }
}

LineWork::~LineWork() {
  if (is_root() && std::uncaught_exceptions() > exceptions_) distribute::end_work(*group_);
}

void LineWork::fail_on_rank(const std::string& error) {
  stop_.emplace();
  distribute::report_to_root(*group_, error);
}

LineSums LineWork::answer(const Model& model, const AnswerLines& answer, size_t columns) {
  if (!is_root()) return answer_parts("line", {}, model, answer, columns);
  LineStream lines(static_cast<size_t>(group_->size()) * kLinesAhead);
  return answer_all_of(lines, "line", model, answer, columns);
}

std::vector<LineAnswer> LineWork::collect(const Model& model, const AnswerLines& answer) {
  std::vector<LineAnswer> kept;
  output_.emplace(kept);
  this->answer(model, answer);
  output_.reset();
  return kept;
}

LineSums LineWork::answer_parts(const std::string& kind, std::vector<std::string> parts,
                                const Model& model, const AnswerLines& answer, size_t columns) {
  KnownLines lines(std::move(parts));
  return answer_all_of(lines, kind, model, answer, columns);
}

LineSums LineWork::answer_all_of(LineSource& source, const std::string& kind, const Model& model,
                                 const AnswerLines& answer, size_t columns) {
  if (!alone()) stop_.emplace();
  const uint64_t fingerprint = alone() && options_.resume.empty() ? 0 : fingerprint_of(model);
  if (!is_root()) {
    share(fingerprint, {}, answer);
    return {};
  }
  if (!options_.resume.empty())
    output_.emplace(columns, options_.resume, fingerprint);
  else if (!output_)
    output_.emplace(columns);
  AnswerOutput& output = *output_;
  LineSums sums{.all = {}, .here = output.progress().sums};
  InputLines lines(source, output);
  if (alone()) {
    answer_alone(lines, output, answer);
  } else {
    LinePieces pieces(lines, kind, parts_ ? 1 : 2 * static_cast<size_t>(group_->size()));
    share(fingerprint,
          {.next = [&](bool& ended) { return pieces.next(ended); },
           .take = [&](const std::string& result) { LinePieces::take(result, output); }},
          answer);
  }
  output.finish();
  sums.all = output.progress().sums;
  for (size_t i = 0; i < columns; ++i) sums.here[i] = sums.all[i] - sums.here[i];
  return sums;
}

void LineWork::share(uint64_t fingerprint, const distribute::WorkSource& source,
                     const AnswerLines& answer) {
  if (!parts_)
    return distribute::share_work(*group_, fingerprint, source, [&](std::string_view piece) {
      return LinePieces::answered(piece, answer);
    });
  distribute::work_together(*group_, fingerprint, source,
                            [&](distribute::Messenger& messenger, std::string_view piece) {
                              parts_->use(messenger);
                              return LinePieces::answered(piece, answer);
                            });
}

void LineWork::conclude(const std::string& line) { output_->put({line}); }

}  // namespace heed::cli
