#include "heed/inspect/report/run_report.h"

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

/// What a report says of a fact; "" if it is not there.
std::string fact(const TrainingReport& report, const std::string& name) {
  for (const auto& [key, value] : report.facts)
    if (key == name) return value;
  return "";
}

TEST(RunReport, SaysWhatRanksExchanged) {
  const TemporaryDirectory folder;
  train::TrainConfig config = one_step(folder);
  config.run.max_steps = 2;
  train::testing::train(config, folder, "out");
  const std::filesystem::path metrics = folder / "out/metrics.jsonl";
  std::istringstream lines(read_file(metrics));
  std::string changed;
  for (std::string line; std::getline(lines, line);) {
    auto record = nlohmann::json::parse(line);
    if (record["kind"] == "step") {
      const double step = record["step"].get<double>();  // 1 or 2
      record["communication"] = {{"seconds", 0.1 * step},
                                 {"hidden", 0.25 * step},
                                 {"bytes", 1000000},
                                 {"slowest_rank", 3},
                                 {"imbalance", 0.1 * step}};
    }
    changed += record.dump() + "\n";
  }
  write_quickly(metrics, changed);
  const auto run = train::RunDirectory::resume(folder / "out");
  const auto task = train::testing::task_of(config, run.last());
  train::Observer silent;
  const train::Trainer trainer(config, *task, run, silent, {});
  const TrainingReport report = report_of(trainer);
  EXPECT_EQ(fact(report, "Communication"), "0.150 s a step, 42% of it hidden; 1.0 MB sent");
  EXPECT_EQ(fact(report, "Slowest rank"),
            "3, in 2 of 2 steps; the slowest computes 15% longer than the mean");
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
