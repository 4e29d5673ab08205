#include "heed/train/token_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/json.h"
#include "tests/train/tiny_run.h"

namespace heed::train {
namespace {

using testing::train;

TEST(TokenBudget, ShrinksWithTheStepsThatFit) {
  EXPECT_EQ(token_budget_for_steps(2500, 4000, 2000), 2500);
  EXPECT_EQ(token_budget_for_steps(2500, 2000, 2000), 2500);
  EXPECT_EQ(token_budget_for_steps(2500, 1500, 2000), 1875);
  EXPECT_EQ(token_budget_for_steps(2500, 100, 2000), 1250) << "at most by half";
}

TrainConfig timed_run(const TemporaryDirectory& folder, double minutes, int64_t min_steps) {
  testing::write_text(folder);
  TrainConfig config = testing::tiny_config(folder);
  config.run.max_steps = 2;
  config.run.minutes = minutes;
  config.run.min_steps = min_steps;
  return config;
}

/// The token budget in the last checkpoint of the run in `folder`/out.
int64_t saved_budget(const TemporaryDirectory& folder) {
  const std::filesystem::path file = folder / "out" / "last" / "training.json";
  return TrainingState::from_json(parse_json(read_file(file), file.string()), file.string())
      .token_budget;
}

TEST(TokenBudget, IsHalvedInARunWithTimeForFewSteps) {
  const TemporaryDirectory folder;
  const TrainConfig config = timed_run(folder, 0.1, 1'000'000'000);
  std::vector<std::string> lines;
  train(config, folder, "out", {.lines = &lines});
  EXPECT_EQ(saved_budget(folder), 64);
  EXPECT_NE(
      std::ranges::find(
          lines, "batches: 64 tokens in place of 128, so that more steps fit into 0.1 minutes"),
      lines.end());
}

TEST(TokenBudget, StaysInARunWithTimeForManySteps) {
  const TemporaryDirectory folder;
  train(timed_run(folder, 10, 100), folder, "out");
  EXPECT_EQ(saved_budget(folder), 128);
}

TEST(TokenBudget, IsThatOfTheRunThatIsResumed) {
  const TemporaryDirectory folder;
  TrainConfig config = timed_run(folder, 10, 1);
  train(config, folder, "out", {.stop_requested = testing::stop_after(1)});
  config.run.minutes = 0.1;
  config.run.min_steps = 1'000'000'000;
  train(config, folder, "out", {.resume = true});
  EXPECT_EQ(saved_budget(folder), 128);
}

}  // namespace
}  // namespace heed::train
