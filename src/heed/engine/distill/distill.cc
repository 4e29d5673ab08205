#include "heed/distill.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "heed/base/directory_lock.h"
#include "heed/base/duration.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/base/text_lines.h"
#include "heed/engine/distill/distill_state.h"
#include "heed/engine/distill/measured_stage.h"
#include "heed/engine/distill/teacher_text.h"
#include "heed/engine/system_errors.h"
#include "heed/generate/generate_options.h"
#include "heed/load_options.h"
#include "heed/quantize.h"
#include "heed/shortlist.h"
#include "heed/train/config/run_config.h"

namespace heed {
namespace engine {
namespace {

namespace fs = std::filesystem;

/// Of the minutes, those of the steps in int8; and what these have where they are not configured.
constexpr double kInt8Share = 0.2;
constexpr int64_t kInt8Epochs = 1;
/// Lines of the text, at most, that are held out as a test, and the share of it.
constexpr int64_t kMostHeldOut = 500, kHeldOutShare = 10;

void check(const DistillOptions& options) {
  generate::SearchOption::num_beams.check(options.num_beams);
  require_input(options.drop >= 0 && options.drop < 1, "drop is {}, expected 0 to 1", options.drop);
  require_input(options.max_ratio >= 1, "max_ratio is {}, expected at least 1", options.max_ratio);
  require_input(options.minutes >= 0, "minutes is {}, expected at least 0", options.minutes);
  require_input(!options.out.empty(), "no directory for the student is given");
  require_input(options.test_source.empty() == options.test_target.empty(),
                "only one of test_source and test_target is given, expected both");
  for (const fs::path& file : {options.text, options.test_source, options.test_target})
    require(file.empty() || path_is_file(file), "{} is no file", file.string());
}

void write_lines(const fs::path& file, const std::vector<std::string>& lines) {
  AtomicFile out(file);
  for (const std::string& line : lines) out.write(line + '\n');
  out.commit();
}

/// The settings of a run that trains on a corpus in a directory, in a share of the minutes.
std::vector<std::string> run_settings(const DistillOptions& options, double share,
                                      const std::vector<std::string>& more) {
  const auto in_out = [&](const char* name) { return fs::absolute(options.out / name).string(); };
  std::vector<std::string> all{"data.source=" + in_out("corpus.source"),
                               "data.target=" + in_out("corpus.target"),
                               "data.alignments=" + in_out("corpus.alignment")};
  if (options.minutes > 0) all.push_back(fmt::format("run.minutes={}", options.minutes * share));
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// The teacher. Throws Error when it cannot teach or the student cannot be trained, which would be
/// found after hours of translating otherwise. The corpus, which chooses the preset, is not there
/// yet.
Model checked_teacher(const DistillOptions& options, const fs::path& teacher) {
  Model model = Model::load(teacher, {.compute = options.compute, .executor = options.executor});
  require(model.tasks().translate, "{} cannot translate, which the teacher does", teacher.string());
  train::Observer observer;
  const bool decided = !options.preset.empty() || !options.config.empty();
  train::new_config({.preset = decided ? options.preset : "small",
                     .config = options.config,
                     .config_name = options.config_name,
                     .assignments = run_settings(options, 1 - kInt8Share, options.assignments),
                     .hub = options.hub},
                    observer)
      .validate();
  train::TrainConfig fine_tuned;
  for (const std::string& assignment : options.int8_assignments)
    train::set_field(fine_tuned, assignment, "--int8-set");
  return model;
}

/// The work of one call. Each part that is done is not done again.
class Distillation {
 public:
  /// `loaded` is the teacher, if it is loaded already.
  Distillation(const DistillOptions& options, const DistillCallbacks& callbacks, fs::path teacher,
               std::optional<Model> loaded)
      : options_(options),
        callbacks_(callbacks),
        teacher_(std::move(teacher)),
        loaded_(std::move(loaded)),
        state_(options, teacher_.string()),
        lock_(options.out) {}

  DistillResult run() {
    const bool finished = translate() && train_student() && train_in_int8();
    if (finished) {
      make_model();
      measure();
    }
    return {.finished = finished,
            .model = model(),
            .shortlist = shortlist(),
            .pairs = state_.pairs(),
            .stages = state_.stages()};
  }

 private:
  fs::path in_out(const char* name) const { return options_.out / name; }
  fs::path model() const { return in_out("model"); }
  fs::path shortlist() const { return model() / "lex.s2t"; }
  void log(const std::string& line) const {
    if (callbacks_.train.on_log) callbacks_.train.on_log(line);
  }
  LoadOptions loading(std::optional<Compute> compute = {}) const {
    return {.compute = compute, .executor = options_.executor};
  }

  /// Translates the text and writes the corpus of what is left of it.
  bool translate() {
    const std::optional<Model> loaded = std::exchange(loaded_, std::nullopt);
    if (state_.done("corpus")) return true;
    const std::vector<std::string> lines = read_lines(options_.text);
    const fs::path file = in_out("translations.txt");
    if (!state_.done("translations")) {
      const Model teacher = loaded ? *loaded : Model::load(teacher_, loading(options_.compute));
      if (!translate_text(teacher, lines, file, options_, callbacks_)) return false;
      state_.set_done("translations");
    }
    std::vector<TaughtLine> taught = read_translations(file, lines);
    hold_out_test(taught);
    const TaughtFilterReport report = filter_taught(taught, options_.max_ratio, options_.drop);
    log(report.text());
    require(!taught.empty(), "no translation is left to learn from: {}", report.text());
    write_corpus(taught);
    state_.set_pairs(report.kept);
    state_.set_done("corpus");
    return true;
  }

  /// Without a test, takes every n-th line for one.
  void hold_out_test(std::vector<TaughtLine>& taught) const {
    if (!options_.test_source.empty()) return;
    const int64_t count = std::min(kMostHeldOut, std::ssize(taught) / kHeldOutShare);
    require(count > 0, "{} has {} lines, too few to hold out a test: give one",
            options_.text.string(), taught.size());
    const int64_t stride = std::ssize(taught) / count;
    std::vector<std::string> sources, targets;
    std::vector<TaughtLine> others;
    for (int64_t i = 0; i < std::ssize(taught); ++i) {
      TaughtLine& line = taught[static_cast<size_t>(i)];
      if (i % stride == 0 && std::ssize(sources) < count) {
        sources.push_back(std::move(line.source));
        targets.push_back(std::move(line.target));
      } else {
        others.push_back(std::move(line));
      }
    }
    taught = std::move(others);
    write_lines(in_out("test.source"), sources);
    write_lines(in_out("test.target"), targets);
  }

  void write_corpus(const std::vector<TaughtLine>& taught) const {
    std::vector<std::string> sources, targets, alignments;
    for (const TaughtLine& line : taught) {
      sources.push_back(line.source);
      targets.push_back(line.target);
      alignments.push_back(line.alignment);
    }
    write_lines(in_out("corpus.source"), sources);
    write_lines(in_out("corpus.target"), targets);
    write_lines(in_out("corpus.alignment"), alignments);
  }

  /// Runs or continues a training. Returns false if it is stopped.
  bool train(TrainOptions run) {
    if (path_exists(run.out)) {
      run.resume = last_checkpoint(run.out).has_value();
      if (!run.resume) remove_tree(run.out);
    }
    run.executor = options_.executor;
    run.hub = options_.hub;
    return train_model(run, callbacks_.train).finished;
  }

  bool train_student() {
    if (state_.done("student")) return true;
    log("training the student");
    if (!train({.out = in_out("student"),
                .preset = options_.preset,
                .config = options_.config,
                .config_name = options_.config_name,
                .assignments = run_settings(options_, 1 - kInt8Share, options_.assignments)}))
      return false;
    state_.set_done("student");
    return true;
  }

  bool train_in_int8() {
    if (state_.done("int8")) return true;
    log("training the student as int8 inference computes");
    std::vector<std::string> own = run_settings(options_, kInt8Share, {});
    own.push_back(fmt::format("model.from={}", fs::absolute(in_out("student")).string()));
    own.push_back("run.quantization_aware=true");
    own.push_back(fmt::format("run.num_train_epochs={}", options_.minutes > 0 ? 0 : kInt8Epochs));
    own.insert(own.end(), options_.int8_assignments.begin(), options_.int8_assignments.end());
    if (!train({.out = in_out("int8-aware"), .preset = "fine-tune", .assignments = own}))
      return false;
    state_.set_done("int8");
    return true;
  }

  void make_model() {
    if (state_.done("model")) return;
    remove_tree(model());
    quantize_model(in_out("int8-aware"), model(),
                   {.weights = WeightType::q8_0, .executor = options_.executor});
    make_shortlist(model(), shortlist(),
                   {.source = in_out("corpus.source"),
                    .target = in_out("corpus.target"),
                    .alignments = in_out("corpus.alignment"),
                    .executor = options_.executor});
    state_.set_done("model");
  }

  void measure() {
    const bool given = !options_.test_source.empty();
    const MeasuredText test(given ? options_.test_source : in_out("test.source"),
                            given ? options_.test_target : in_out("test.target"));
    const auto add = [&](const char* name, const fs::path& path, LoadOptions load) {
      if (state_.has_stage(name)) return;
      log(fmt::format("measuring: {}", name));
      state_.add(test.measure(name, path, load));
    };
    add("teacher", teacher_, loading(Compute::f32));
    add("teacher in int8", teacher_, loading(Compute::int8));
    add("student", in_out("student"), loading(Compute::f32));
    add("student in int8", in_out("student"), loading(Compute::int8));
    add("trained in int8", model(), loading());
    LoadOptions listed = loading();
    listed.shortlist = shortlist();
    add("with a shortlist", model(), listed);
  }

  const DistillOptions& options_;
  const DistillCallbacks& callbacks_;
  fs::path teacher_;
  std::optional<Model> loaded_;  // until it has translated
  DistillState state_;
  DirectoryLock lock_;
};

}  // namespace
}  // namespace engine

DistillResult distill_model(const DistillOptions& options, const DistillCallbacks& callbacks) {
  return engine::with_system_errors([&] {
    engine::check(options);
    const auto executor = options.executor ? options.executor : Executor::shared();
    const ExecutorScope scope(*executor);
    const std::filesystem::path teacher = resolve_model(options.teacher, options.hub);
    std::optional<Model> loaded;
    if (!options.resume) loaded = engine::checked_teacher(options, teacher);
    return engine::Distillation(options, callbacks, std::filesystem::absolute(teacher),
                                std::move(loaded))
        .run();
  });
}

}  // namespace heed
