#include <array>
#include <atomic>
#include <cstring>
#include <limits>

#include "heed/base/hash.h"
#include "heed/distribute/agree.h"
#include "heed/distribute/join.h"
#include "heed/distribute/shared_work.h"
#include "heed/distribute/spmd_work.h"
#include "heed/engine/lines/answer_output.h"
#include "heed/engine/lines/line_answers.h"
#include "heed/engine/lines/line_stream.h"
#include "heed/engine/loaded_model.h"
#include "heed/engine/model_fingerprint.h"
#include "heed/engine/rank_parts.h"
#include "heed/lines.h"
#include "heed/ranks.h"

namespace heed {
namespace engine {
namespace {

/// The most lines of a chunk, and the most that are read ahead for each rank.
constexpr size_t kMaxChunkLines = 512, kLinesAhead = 2048;

/// Lines with what becomes known of the input once they are answered.
struct Batch {
  NumberedLines lines;
  uint64_t hash = 0;  // of all lines up to the last of these

  int64_t last() const { return lines.first + static_cast<int64_t>(lines.lines.size()) - 1; }
};

/// Numbers lines; those that `output` answers already are skipped.
class InputLines {
 public:
  InputLines(LineSource& source, const std::string& name, const AnswerOutput& output)
      : source_(source) {
    while (last_ < output.progress().lines) {
      const auto missing = static_cast<size_t>(output.progress().lines - last_);
      if (numbered(source_.next(missing)).lines.lines.empty()) break;
    }
    if (output.progress().lines > 0) output.require_same_lines(last_, hash_, name);
  }

  /// See LineSource.
  Batch next() { return numbered(source_.next(std::numeric_limits<size_t>::max())); }
  Batch next_available(size_t parts, bool& ended) {
    return numbered(source_.next_available(parts, kMaxChunkLines, ended));
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
  output.set_progress(last, hash);
}

void answer_alone(InputLines& lines, AnswerOutput& output, const AnswerLines& answer) {
  for (Batch batch = lines.next(); !batch.lines.lines.empty(); batch = lines.next())
    put(output, answer_all(batch.lines, answer), batch.last(), batch.hash);
}

/// Lines as chunks, each a part of what has arrived: large ones of a file, and smaller ones towards
/// its end, so that all ranks end at about the same time (guided
/// self-scheduling, Polychronopoulos and Kuck 1987).
class LineChunks {
 public:
  LineChunks(InputLines& lines, std::string kind, size_t parts)
      : lines_(lines), kind_(std::move(kind)), parts_(parts) {}

  std::optional<distribute::WorkItem> next(bool& ended) {
    const Batch batch = lines_.next_available(parts_, ended);
    if (batch.lines.lines.empty()) return std::nullopt;
    // A rank returns the progress with its answers.
    const std::array<uint64_t, 2> reached{static_cast<uint64_t>(batch.last()), batch.hash};
    std::string bytes(reinterpret_cast<const char*>(reached.data()), sizeof(reached));
    return distribute::WorkItem{name_of(batch), bytes + to_bytes(batch.lines)};
  }

  static std::string answered(std::string_view chunk, const AnswerLines& answer) {
    constexpr size_t head = 2 * sizeof(uint64_t);
    const Answers answers = answer_all(lines_of(chunk.substr(head)), answer);
    return std::string(chunk.substr(0, head)) + to_bytes(answers);
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

/// A hash of what answers depend on: the build and the files of the model.
uint64_t fingerprint_of(const Model& model) {
  return engine::fingerprint_of_files(engine::loaded(model), distribute::hash_of_build());
}

}  // namespace
}  // namespace engine

AnswerLines answer_one_by_one(
    std::function<LineAnswer(const std::string& line, int64_t number)> answer) {
  return
      [answer = std::move(answer)](const NumberedLines& lines, std::vector<LineAnswer>& answers) {
        int64_t number = lines.first;
        for (const std::string& line : lines.lines) {
          name_input("line", number, [&] { answers.push_back(answer(line, number)); });
          ++number;
        }
      };
}

struct LineProcessor::State {
  explicit State(LineOptions line_options);
  ~State() {
    if (group->is_root() && std::uncaught_exceptions() > exceptions) distribute::end_work(*group);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void begin_sharing() {
    if (sharing) return;
    if (options.on_sharing) options.on_sharing();
    sharing = true;
  }
  /// Calls `call` and remembers whether another rank reports an error.
  template <typename Call>
  void remembering_report(const Call& call) {
    try {
      call();
    } catch (const ReportedElsewhere&) {
      reported_elsewhere = true;
      throw;
    }
  }
  void fail_on_rank(const std::string& error);
  /// Answers go to `write`, unless they go to LineOptions::resume.
  LineSums answer(engine::LineSource& source, const std::string& kind, const Model& model,
                  const AnswerLines& answer, size_t columns,
                  const engine::AnswerOutput::Write& write);
  LineSums answer_input(const Model& model, const AnswerLines& answer, size_t columns,
                        const engine::AnswerOutput::Write& write);
  void share(uint64_t fingerprint, const distribute::WorkSource& source, const AnswerLines& answer);

  const LineOptions options;
  std::atomic<bool> sharing = false;
  std::optional<engine::AnswerOutput> output;  // of the last answer()
  bool reported_elsewhere = false;
  std::shared_ptr<engine::RankParts> parts;  // if ranks share the model
  std::shared_ptr<distribute::Group> group;
  int exceptions = std::uncaught_exceptions();
};

LineProcessor::State::State(LineOptions line_options) : options(std::move(line_options)) {
  engine::check_count("rank_timeout", options.rank_timeout.count());
  group = distribute::join_launched_ranks(
      [this] { return sharing && options.interrupted && options.interrupted(); },
      {.wait = options.rank_timeout});
  distribute::require_no_error(*group, "");
  if (options.tensor_parallel && !group->alone())
    parts = std::make_shared<engine::RankParts>(group->rank(), group->size());
}

void LineProcessor::State::fail_on_rank(const std::string& error) {
  begin_sharing();
  remembering_report([&] { distribute::report_to_root(*group, error); });
}

LineSums LineProcessor::State::answer(engine::LineSource& source, const std::string& kind,
                                      const Model& model, const AnswerLines& answer, size_t columns,
                                      const engine::AnswerOutput::Write& write) {
  const bool alone = group->alone();
  if (!alone) begin_sharing();
  const uint64_t fingerprint = alone && options.resume.empty() ? 0 : engine::fingerprint_of(model);
  if (!group->is_root()) {
    share(fingerprint, {}, answer);
    return {};
  }
  if (!options.resume.empty())
    output.emplace(columns, options.resume, fingerprint);
  else
    output.emplace(columns, write);
  LineSums sums{.all = {}, .here = output->progress().sums};
  engine::InputLines lines(source, options.input_name, *output);
  if (alone) {
    engine::answer_alone(lines, *output, answer);
  } else {
    engine::LineChunks chunks(lines, kind, parts ? 1 : 2 * static_cast<size_t>(group->size()));
    share(fingerprint,
          {.next = [&](bool& ended) { return chunks.next(ended); },
           .take = [&](const std::string& result) { engine::LineChunks::take(result, *output); }},
          answer);
  }
  output->finish();
  sums.all = output->progress().sums;
  for (size_t i = 0; i < columns; ++i) sums.here[i] = sums.all[i] - sums.here[i];
  return sums;
}

void LineProcessor::State::share(uint64_t fingerprint, const distribute::WorkSource& source,
                                 const AnswerLines& answer) {
  remembering_report([&] {
    if (parts)
      distribute::run_spmd(*group, fingerprint, source,
                           [&](distribute::Messenger& messenger, std::string_view chunk) {
                             parts->use(messenger);
                             return engine::LineChunks::answered(chunk, answer);
                           });
    else
      distribute::share_work(*group, fingerprint, source, [&](std::string_view chunk) {
        return engine::LineChunks::answered(chunk, answer);
      });
  });
}

LineProcessor::LineProcessor(LineOptions options)
    : state_(distribute::waiting_for_report(
          [&] { return std::make_unique<State>(std::move(options)); })) {}

LineProcessor::LineProcessor(LineProcessor&&) noexcept = default;

LineProcessor::~LineProcessor() {
  // The ranks part before this one waits.
  const bool waits = state_ && state_->reported_elsewhere;
  state_.reset();
  if (waits) distribute::wait_for_report();
}

bool LineProcessor::is_root() const { return state_->group->is_root(); }

void LineProcessor::divide(LoadOptions& options) const {
  if (state_->parts) options.parts = state_->parts;
}

Model LineProcessor::load(const std::function<Model()>& load) const {
  try {
    return load();
  } catch (const Error& error) {
    if (!is_root()) state_->fail_on_rank(error.what());
    throw;
  }
}

LineSums LineProcessor::State::answer_input(const Model& model, const AnswerLines& answer,
                                            size_t columns,
                                            const engine::AnswerOutput::Write& write) {
  if (!group->is_root()) {
    engine::InMemoryLines none({});
    return this->answer(none, "line", model, answer, columns, write);
  }
  require_input(options.read != nullptr, "LineOptions::read is empty: there are no lines");
  engine::LineStream lines(options.read, options.input_name,
                           static_cast<size_t>(group->size()) * engine::kLinesAhead);
  return this->answer(lines, "line", model, answer, columns, write);
}

LineSums LineProcessor::answer(const Model& model, const AnswerLines& answer, size_t columns) {
  return state_->answer_input(model, answer, columns, state_->options.write);
}

std::vector<LineAnswer> LineProcessor::collect(const Model& model, const AnswerLines& answer) {
  require_input(state_->options.resume.empty(), "answers that are collected are not written to {}",
                state_->options.resume.string());
  const auto kept = std::make_shared<std::vector<LineAnswer>>();
  state_->answer_input(model, answer, 0, [kept](const std::vector<LineAnswer>& answers) {
    kept->insert(kept->end(), answers.begin(), answers.end());
  });
  return std::move(*kept);
}

LineSums LineProcessor::answer_parts(const std::string& kind, std::vector<std::string> parts,
                                     const Model& model, const AnswerLines& answer,
                                     size_t columns) {
  engine::InMemoryLines lines(std::move(parts));
  return state_->answer(lines, kind, model, answer, columns, state_->options.write);
}

void LineProcessor::conclude(const std::string& line) {
  require_input(state_->output.has_value(), "a last line follows the answers, on rank 0");
  state_->output->put({line});
}

}  // namespace heed
