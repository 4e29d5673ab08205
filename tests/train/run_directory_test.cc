#include "heed/train/checkpoints/run_directory.h"

#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "tests/base/child.h"
#include "tests/base/testing.h"

namespace heed::train {
namespace {

namespace fs = std::filesystem;

/// The directory of a run that was stopped.
void leave_run(const fs::path& root, const std::string& last = "last") {
  fs::create_directories(root / last);
  fs::create_directories(root / "checkpoints");
  for (const char* file : {"config.toml", "metrics.jsonl"}) write_quickly(root / file, "");
  write_quickly(root / last / "training.json", "{}");
}

TEST(RunDirectory, BeginsInANewOrEmptyDirectory) {
  const TemporaryDirectory folder;
  const RunDirectory made = RunDirectory::begin(folder / "new/run");
  EXPECT_FALSE(made.resumed());
  EXPECT_TRUE(fs::is_directory(folder / "new/run/checkpoints"));
  fs::create_directory(folder / "empty");
  RunDirectory::begin(folder / "empty");
}

TEST(RunDirectory, RejectsADirectoryWithAModel) {
  const TemporaryDirectory folder;
  const fs::path model = folder / "model";
  fs::create_directory(model);
  write_quickly(model / "config.json", "{}");
  write_quickly(model / "model.safetensors", "weights");
  expect_error([&] { RunDirectory::begin(model); },
               model.string() + " is not empty (it holds \"config.json\")");
  EXPECT_EQ(read_file(model / "model.safetensors"), "weights");
  EXPECT_FALSE(path_exists(model / DirectoryLock::kFile));
  expect_error([&] { RunDirectory::begin(model / "config.json"); }, "config.json cannot be made");
}

TEST(RunDirectory, RejectsADirectoryWithARunOrOtherFiles) {
  const TemporaryDirectory folder;
  leave_run(folder / "run");
  expect_error([&] { RunDirectory::begin(folder / "run"); }, "already holds a run: add --resume");
  leave_run(folder / "best", "elsewhere");
  write_quickly(folder / "best/model.safetensors", "weights");
  expect_error([&] { RunDirectory::begin(folder / "best"); }, "is not empty");
  fs::create_directory(folder / "settings");
  write_quickly(folder / "settings/config.toml", "mine");
  expect_error([&] { RunDirectory::begin(folder / "settings"); }, "it holds \"config.toml\"");
  fs::create_directories(folder / "kept/checkpoints");
  write_quickly(folder / "kept/metrics.jsonl", "");
  write_quickly(folder / "kept/checkpoints/step-0000001.safetensors", "weights");
  expect_error([&] { RunDirectory::begin(folder / "kept"); }, "it holds \"checkpoints\"");
}

TEST(RunDirectory, BeginsWhereARunEndedBeforeItsFirstStep) {
  const TemporaryDirectory folder;
  RunDirectory::begin(folder / "run");  // makes "checkpoints", then its texts turn out to be wrong
  EXPECT_FALSE(RunDirectory::begin(folder / "run").resumed());
}

TEST(RunDirectory, BeginsWhereARunEndedBeforeItsFirstCheckpoint) {
  const TemporaryDirectory folder;
  leave_run(folder / "run", "last.tmp");
  write_quickly(folder / "run" / DirectoryLock::kFile, "123\n");
  EXPECT_FALSE(RunDirectory::begin(folder / "run").has_checkpoint());
}

TEST(RunDirectory, ResumesOnlyFromACheckpoint) {
  const TemporaryDirectory folder;
  expect_error([&] { RunDirectory::resume(folder / "absent"); }, "absent has no checkpoint");
  EXPECT_FALSE(path_exists(folder / "absent"));
  expect_error([&] { RunDirectory::resume(folder.path()); }, "has no checkpoint to resume from");
  leave_run(folder / "run");
  EXPECT_TRUE(RunDirectory::resume(folder / "run").resumed());
}

TEST(RunDirectory, IsLockedAgainstOtherProcesses) {
  const TemporaryDirectory folder;
  leave_run(folder / "run");
  auto first = std::make_unique<RunDirectory>(RunDirectory::resume(folder / "run"));
  const RunDirectory copy = *first;
  first.reset();
  const std::string refused =
      in_child([&] { return error_of([&] { RunDirectory::resume(folder / "run"); }); });
  EXPECT_NE(refused.find(fmt::format("in use by process {}", ::getpid())), std::string::npos)
      << refused;
  expect_error([&] { RunDirectory::begin(folder / "run"); }, "is in use");
}

// Where the file system cannot exchange two names, `last` is missing for a moment.
TEST(RunDirectory, RestoresACheckpointAfterACrashDuringReplacement) {
  const TemporaryDirectory folder;
  leave_run(folder / "run", "last.old");
  expect_error([&] { RunDirectory::begin(folder / "run"); }, "already holds a run");
  fs::rename(folder / "run/last", folder / "run/last.old");
  EXPECT_TRUE(RunDirectory::resume(folder / "run").has_checkpoint());
  EXPECT_FALSE(path_exists(folder / "run/last.old"));
}

TEST(RunDirectory, RemovesTemporaryFilesOfKilledProcesses) {
  const TemporaryDirectory folder;
  leave_run(folder / "run");
  kill_while(
      [&](int) {
        AtomicFile root(folder / "run/model.safetensors");
        AtomicFile kept(folder / "run/checkpoints/step-0000001.safetensors");
        ::pause();
      },
      std::chrono::milliseconds(200));
  const auto temporaries = [&](const char* directory) {
    int count = 0;
    for (const auto& entry : fs::directory_iterator(folder / directory))
      count += entry.path().extension() == ".tmp";
    return count;
  };
  ASSERT_EQ(temporaries("run") + temporaries("run/checkpoints"), 2) << "the child was too slow";
  write_quickly(folder / "run/mine.tmp", "");
  RunDirectory::resume(folder / "run");
  EXPECT_EQ(temporaries("run/checkpoints"), 0);
  EXPECT_EQ(temporaries("run"), 1);
}

TEST(RunDirectory, RemovesOnlyWeightsOfOtherSteps) {
  const TemporaryDirectory folder;
  const RunDirectory run = RunDirectory::begin(folder / "run");
  for (const int64_t step : {1, 2, 10000000}) write_quickly(run.weights_of_step(step), "");
  const fs::path other = folder / "run/checkpoints/step-best.safetensors";
  write_quickly(other, "");
  run.keep_weights_of({2});
  EXPECT_FALSE(path_exists(run.weights_of_step(1)));
  EXPECT_TRUE(path_exists(run.weights_of_step(2)));
  EXPECT_FALSE(path_exists(run.weights_of_step(10000000)));
  EXPECT_TRUE(path_exists(other));
}

}  // namespace
}  // namespace heed::train
