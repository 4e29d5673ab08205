// The state of a run on disk after its process was killed, its disk was full, or a stop was
// requested while it was saving.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <limits>
#include <string_view>

#include "heed/base/error.h"
#include "heed/data/pair_dataset.h"
#include "heed/train/checkpoints/initial_weights.h"
#include "tests/base/child.h"
#include "tests/base/threads.h"
#include "tests/train/language_run.h"

namespace {

/// What to do when a file is renamed to `name` for the n-th time.
struct Event {
  std::string_view name;  // the end of the path
  int number = 1;
  bool before = true;  // the renaming; otherwise after it
  int signal = SIGKILL;
};
Event event;
int seen = 0;

void reach(const char* path, bool before) {
  if (event.name.empty() || before != event.before || !std::string_view(path).ends_with(event.name))
    return;
  if (++seen == event.number) std::raise(event.signal);
}

}  // namespace

// These replace the C library's.
extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                         unsigned flags) noexcept {
  reach(to, true);
  const auto result = ::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
  reach(to, false);
  return static_cast<int>(result);
}

extern "C" int rename(const char* from, const char* to) noexcept {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

namespace heed::train {
namespace {

using testing::Session;
using testing::stop_after;
using testing::train;

/// Four steps with a validation after each, of which two are averaged.
TrainConfig shortened(TrainConfig config) {
  config.run.max_steps = 4;
  config.run.average = 2;
  config.validation.eval_steps = 1;
  return config;
}

TrainConfig short_config(const TemporaryDirectory& folder) {
  return shortened(testing::tiny_config(folder));
}

int64_t saved_step(const std::filesystem::path& run) {
  return nlohmann::json::parse(read_file(run / "last/training.json")).at("step");
}

void expect_same_checkpoint(const TemporaryDirectory& folder, const std::string& a,
                            const std::string& b) {
  const bool adapter = path_exists(folder / a / "last/adapter_model.safetensors");
  for (const char* file : {adapter ? "last/adapter_model.safetensors" : "last/model.safetensors",
                           "last/optimizer.safetensors"})
    EXPECT_EQ(read_file(folder / a / file), read_file(folder / b / file)) << file;
}

int files_ending(const std::filesystem::path& directory, const std::string& end) {
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
    count += entry.path().string().ends_with(end);
  return count;
}

std::string train_in_child(const TrainConfig& config, const TemporaryDirectory& folder,
                           const std::string& out, const Session& session = {}) {
  const Threads one(1);  // a forked child has only its own thread
  return in_child([&] { return error_of([&] { train(config, folder, out, session); }); });
}

/// Kills a run at each of the events and resumes it.
void expect_same_after_kills(const TemporaryDirectory& folder, TrainConfig config,
                             std::span<const Event> events) {
  train(config, folder, "whole");
  for (const Event& moment : events) {
    const std::string name(moment.name);
    SCOPED_TRACE(fmt::format("{} {} number {}", moment.before ? "before" : "after", moment.name,
                             moment.number));
    event = moment, seen = 0;
    const std::string end = train_in_child(config, folder, "out");
    event = {}, seen = 0;
    EXPECT_EQ(end.substr(0, 14), "the child died") << end;
    if (path_exists(folder / "out/last/training.json")) {
      // Resumed to end at once, or to continue to the end.
      config.run.max_steps = saved_step(folder / "out");
      EXPECT_EQ(train(config, folder, "out", {.resume = true}), Trainer::Outcome::finished);
      config.run.max_steps = 4;
      EXPECT_EQ(train(config, folder, "out", {.resume = true}), Trainer::Outcome::finished);
      expect_same_checkpoint(folder, "whole", "out");
      EXPECT_EQ(files_ending(folder / "out", ".tmp"), 0);
      EXPECT_EQ(files_ending(folder / "out/checkpoints", ".safetensors"), 2);
    }
    std::filesystem::remove_all(folder / "out");
  }
}
TEST(Saving, ARunKilledAtAnyPointResumesToTheSameBits) {
  const TemporaryDirectory folder;
  testing::write_book(folder);
  const Event events[] = {
      {"out/last", 1},               // the first checkpoint is written but not renamed
      {"out/last", 1, false},        // it is renamed
      {"out/model.safetensors", 3},  // a better model is written
      {"checkpoints/step-0000003.safetensors", 1, false},
      {"out/last", 3},            // the third checkpoint, which lists other weights than the second
      {"out/last", 3, false},     // it is renamed, and the old one not yet removed
      {"last/training.json", 1},  // the average has been validated
      {"last/training.json", 1, false},
  };
  expect_same_after_kills(folder, shortened(testing::causal_config(folder)), events);
}

TEST(Saving, ARunOfAnAdapterKilledAtAnyPointResumesToTheSameBits) {
  const TemporaryDirectory folder;
  testing::write_book(folder);
  TrainConfig config = shortened(testing::causal_config(folder));
  train(config, folder, "base");
  config.from = (folder / "base").string();
  config.lora = {.enabled = true, .rank = 2, .dropout = 0.1};
  read_initial_config(config);
  const Event events[] = {{"out/last", 1},
                          {"out/adapter_config.json", 2},
                          {"out/adapter_model.safetensors", 2},
                          {"checkpoints/step-0000003.safetensors", 1, false},
                          {"out/last", 3},
                          {"out/last", 3, false},
                          {"last/training.json", 1}};
  expect_same_after_kills(folder, config, events);
}

TEST(Saving, ASignalDuringASaveStopsTheRunAfterIt) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  const TrainConfig config = short_config(folder);
  train(config, folder, "whole");
  static volatile std::sig_atomic_t interrupted = 0;
  const auto before = std::signal(SIGINT, [](int) { interrupted = 1; });
  event = {"last.tmp/optimizer.safetensors", 2, true, SIGINT}, seen = 0;
  const auto outcome =
      train(config, folder, "out", {.stop_requested = [] { return interrupted != 0; }});
  event = {}, seen = 0;
  std::signal(SIGINT, before);
  EXPECT_EQ(outcome, Trainer::Outcome::stopped);
  EXPECT_EQ(saved_step(folder / "out"), 2);
  train(config, folder, "out", {.resume = true});
  expect_same_checkpoint(folder, "whole", "out");
}

TEST(Saving, OnAFullDiskKeepsTheOldCheckpointAndNoPartialFiles) {
  const TemporaryDirectory folder;
  testing::write_book(folder);
  const TrainConfig config = shortened(testing::causal_config(folder));
  train(config, folder, "whole");
  // The weights still fit; the moments, twice as large, do not.
  const auto room = std::filesystem::file_size(folder / "whole/last/optimizer.safetensors") - 1;
  const auto fill = [room](const Trainer& trainer) {
    if (trainer.state().step != 2) return;
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{room, room};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  };
  const std::string reason = train_in_child(config, folder, "out", {.after_validation = fill});
  EXPECT_NE(reason.find("optimizer.safetensors: cannot be written: File too large"),
            std::string::npos)
      << reason;
  EXPECT_EQ(saved_step(folder / "out"), 2);
  EXPECT_EQ(files_ending(folder / "out", "last.tmp"), 0);
  train(config, folder, "out", {.resume = true});
  expect_same_checkpoint(folder, "whole", "out");
}

/// Puts /dev/full in place of an open file.
void fill_disk_under(const std::filesystem::path& file) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (std::filesystem::read_symlink(entry.path(), ignored) != file) continue;
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    ::dup2(full, std::stoi(entry.path().filename()));
    ::close(full);
  }
}

TEST(Saving, ALogThatCannotBeWrittenEndsTheRunAfterACheckpoint) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  TrainConfig config = short_config(folder);
  config.validation.eval_steps = 3;
  const auto fill = [&](const Trainer&) { fill_disk_under(folder / "out/metrics.jsonl"); };
  expect_error([&] { train(config, folder, "out", {.after_validation = fill}); },
               "metrics.jsonl: cannot be written: is the disk full?; --resume continues the run");
  EXPECT_EQ(saved_step(folder / "out"), 4) << "the step that the log lacks";
  EXPECT_EQ(train(config, folder, "out", {.resume = true}), Trainer::Outcome::finished);
}

TEST(Saving, AReportThatCannotBeWrittenIsAWarning) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  const TrainConfig config = short_config(folder);
  int64_t reports = 0;
  const auto report = [&](const Trainer& trainer) {
    ++reports;
    EXPECT_EQ(saved_step(folder / "out"), trainer.state().step) << "the checkpoint comes first";
    fail("report.html: cannot be written: No space left on device");
  };
  std::vector<std::string> lines;
  EXPECT_EQ(train(config, folder, "out", {.after_validation = report, .lines = &lines}),
            Trainer::Outcome::finished);
  const std::string warning = "warning: report.html: cannot be written: No space left on device";
  EXPECT_EQ(std::count(lines.begin(), lines.end(), warning), 4);
  EXPECT_EQ(reports, 4);
}

TEST(Saving, WeightsThatAreNotFiniteDoNotReplaceACheckpoint) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  const TrainConfig config = short_config(folder);
  const auto spoil = [](const Trainer& trainer) {
    const_cast<model::Transformer&>(trainer.model())
        .parameters()
        .named("final_logits_bias")
        .value.data<float>()[3] = std::numeric_limits<float>::infinity();
  };
  expect_error(
      [&] {
        train(config, folder, "out", {.stop_requested = stop_after(1), .after_validation = spoil});
      },
      "step 1: the weights are not finite; training stopped. The last good checkpoint is");
  EXPECT_EQ(train(config, folder, "out", {.resume = true}), Trainer::Outcome::finished);
}

/// A task whose evaluation fails.
class FailingTask : public Task {
 public:
  explicit FailingTask(const model::ModelConfig& model) : Task(model) {
    const std::vector<data::Example> pairs(9, {.source = {3, 4, 1}, .target = {5, 6, 1}});
    train_ = std::make_unique<data::PairDataset>(pairs, model.decoder_start_id);
    valid_ = std::make_unique<data::PairDataset>(pairs, model.decoder_start_id);
  }
  void evaluate(const model::Transformer&, Compute, distribute::Group&,
                ValidationRecord&) const override {
    fail("the evaluation failed");
  }
  std::vector<checkpoint::NamedFile> files() const override { return {}; }
  std::string piece(int32_t) const override { return ""; }
  SampleNames sample_names() const override { return {"source", "reference", "translation"}; }
};

TEST(Saving, AFailingValidationEndsTheRunAfterACheckpoint) {
  const TemporaryDirectory folder;
  TrainConfig config = testing::tiny_config(folder);
  config.model.vocab_size = 8;
  const FailingTask task(config.model);
  Observer silent;
  Trainer trainer(config, task, RunDirectory::begin(folder / "out"), silent, {});
  expect_error([&] { trainer.run(); }, "the evaluation failed");
  EXPECT_EQ(saved_step(folder / "out"), config.validation.eval_steps);
}

TEST(Saving, TheAverageLeavesOutWeightsThatWereRemoved) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  TrainConfig config = short_config(folder);
  train(config, folder, "out", {.stop_requested = stop_after(3)});
  std::filesystem::remove_all(folder / "out/checkpoints");
  std::vector<std::string> lines;
  EXPECT_EQ(train(config, folder, "out", {.resume = true, .lines = &lines}),
            Trainer::Outcome::finished);
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.ends_with("so it is left out of the average");
  }));
}

TEST(Saving, TheAverageLeavesOutCheckpointsBeforeItsWindow) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  TrainConfig config = testing::tiny_config(folder);
  config.run.max_steps = 20;
  config.validation.eval_steps = 5;
  config.run.average = 4;
  config.run.average_window = 0.3;  // steps 14 to 20
  std::vector<std::string> lines;
  train(config, folder, "out", {.lines = &lines});
  EXPECT_TRUE(std::ranges::any_of(lines, [](const std::string& line) {
    return line.starts_with("mean of the last 2 checkpoints");
  }));
}

TEST(Resuming, RejectsChangedTrainingText) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  TrainConfig config = short_config(folder);
  train(config, folder, "out", {.stop_requested = stop_after(2)});
  const auto resume = [&] { train(config, folder, "out", {.resume = true}); };
  testing::write_text(folder, 220);
  expect_error(resume,
               "the training text has changed since the run began: 200 pairs then, 220 now");
  testing::write_text(folder);
  std::string text = read_file(folder / "target");
  text[0] = 'x';
  write_quickly(folder / "target", text);
  expect_error(resume, "200 pairs then, 200 now with other content");
  testing::write_text(folder);
  EXPECT_NO_THROW(resume());
}

TEST(Resuming, RejectsChangedValidationText) {
  const TemporaryDirectory folder;
  testing::write_book(folder);
  TrainConfig config = testing::causal_config(folder);
  config.data.valid_text = (folder / "valid").string();
  write_quickly(folder / "valid", "the man saw the sun.\n");
  train(config, folder, "out", {.stop_requested = stop_after(2)});
  write_quickly(folder / "valid", "the man saw the sea.\n");
  expect_error([&] { train(config, folder, "out", {.resume = true}); },
               "the validation text has changed since the run began: 1 documents then, 1 now with "
               "other content");
}

TEST(Resuming, AcceptsACheckpointWithoutFingerprints) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  const TrainConfig config = short_config(folder);
  train(config, folder, "out", {.stop_requested = stop_after(2)});
  const auto file = folder / "out/last/training.json";
  auto state = nlohmann::json::parse(read_file(file));
  EXPECT_EQ(state.erase("data"), 1u);
  write_quickly(file, state.dump());
  EXPECT_EQ(train(config, folder, "out", {.resume = true}), Trainer::Outcome::finished);
  EXPECT_TRUE(nlohmann::json::parse(read_file(file)).contains("data"));
  state["data"] = {{"training", {{"count", 200}, {"hash", "no number"}}}};
  write_quickly(file, state.dump());
  expect_error([&] { train(config, folder, "out", {.resume = true}); }, "hash is \"no number\"");
}

}  // namespace
}  // namespace heed::train
