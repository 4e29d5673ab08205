#include "heed/inspect/run_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/train/tiny_run.h"

namespace heed::inspect {
namespace {

train::TrainConfig one_step(const TemporaryDirectory& folder) {
  train::testing::write_text(folder);
  train::TrainConfig config = train::testing::tiny_config(folder);
  config.run.max_steps = 1;
  return config;
}

TEST(RunReport, HasTheAttentionOfSamples) {
  const TemporaryDirectory folder;
  const train::TrainConfig config = one_step(folder);
  const auto task = train::testing::task_of(config);
  train::Observer silent;
  train::Trainer trainer(config, *task, train::RunDirectory::begin(folder / "out"), silent, {});
  trainer.run();
  const TrainingReport report = report_of(trainer);
  ASSERT_FALSE(report.samples.empty());
  for (const TrainingReport::Sample& sample : report.samples)
    EXPECT_EQ(sample.attention.weights.maps.empty(), sample.texts.output.empty())
        << sample.texts.output;
}

/// Replaces the translations in a run's log by `output`.
void replace_translations(const std::filesystem::path& metrics, const std::string& output) {
  std::istringstream lines(read_file(metrics));
  std::string changed;
  for (std::string line; std::getline(lines, line);) {
    auto record = nlohmann::json::parse(line);
    if (record["kind"] == "validation")
      for (auto& sample : record["samples"]) sample["translation"] = output;
    changed += record.dump() + "\n";
  }
  write_quickly(metrics, changed);
}

TEST(RunReport, ASampleWhoseOutputTheModelCannotReadHasNoAttention) {
  const TemporaryDirectory folder;
  const train::TrainConfig config = one_step(folder);
  train::testing::train(config, folder, "out");
  std::string too_long;
  for (int64_t i = 0; i < config.model.max_positions; ++i) too_long += "uno ";
  for (const std::string& output : {too_long, std::string(" ")}) {
    replace_translations(folder / "out/metrics.jsonl", output);
    const auto run = train::RunDirectory::resume(folder / "out");
    const auto task = train::testing::task_of(config, run.last());
    train::Observer silent;
    const train::Trainer trainer(config, *task, run, silent, {});
    const TrainingReport report = report_of(trainer);
    ASSERT_FALSE(report.samples.empty());
    EXPECT_EQ(report.samples.front().texts.output, output);
    EXPECT_TRUE(report.samples.front().attention.weights.maps.empty());
  }
}

}  // namespace
}  // namespace heed::inspect
