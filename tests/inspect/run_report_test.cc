#include "heed/inspect/run_report.h"

#include <gtest/gtest.h>

#include "tests/train/tiny_run.h"

namespace heed::inspect {
namespace {

/// The report of a run of one step.
TrainingReport report_after(const train::TrainConfig& config, const TemporaryDirectory& folder) {
  const auto task = train::testing::task_of(config);
  train::Trainer trainer(config, *task, train::RunDirectory::begin(folder / "out"), {});
  trainer.run();
  return report_of(trainer);
}

TEST(RunReport, DrawsTheAttentionOfSamples) {
  const TemporaryDirectory folder;
  train::testing::write_text(folder);
  train::TrainConfig config = train::testing::tiny_config(folder);
  config.run.steps = 1;
  const TrainingReport report = report_after(config, folder);
  ASSERT_FALSE(report.samples.empty());
  EXPECT_FALSE(report.samples.front().attention.maps.empty());
}

TEST(RunReport, ShowsASampleThatTheModelCannotReadAgainWithoutAttention) {
  const TemporaryDirectory folder;
  train::testing::write_text(folder);
  train::TrainConfig config = train::testing::tiny_config(folder);
  config.run.steps = 1;
  config.model.max_positions = 3;  // as long as the untrained model's translations
  const TrainingReport report = report_after(config, folder);
  ASSERT_FALSE(report.samples.empty());
  for (const TrainingReport::Sample& sample : report.samples) {
    EXPECT_FALSE(sample.output.empty());
    EXPECT_TRUE(sample.attention.maps.empty()) << sample.output;
  }
}

}  // namespace
}  // namespace heed::inspect
