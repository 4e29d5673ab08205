#include "heed/train/config/run_length.h"

#include <gtest/gtest.h>

namespace heed::train {
namespace {

TEST(PlannedSteps, AreTheSmallestLimit) {
  TrainConfig config;
  EXPECT_EQ(planned_steps(config, 0, {}), 0) << "there is no limit";
  config.run.max_steps = 100;
  EXPECT_EQ(planned_steps(config, 0, {}), 100);
  config.run.num_train_epochs = 3;
  config.run.gradient_accumulation_steps = 2;
  EXPECT_EQ(planned_steps(config, 9, {}), 15) << "an epoch's last step has one batch";
  config.run.max_steps = 10;
  EXPECT_EQ(planned_steps(config, 9, {}), 10);
}

TEST(PlannedSteps, AreUnknownForATimeLimitUntilStepsWereTimed) {
  TrainConfig config;
  config.run.minutes = 10;
  EXPECT_EQ(planned_steps(config, 0, {.elapsed = 30}), 0);
}

/// A run of 10 minutes after 100 steps of 1 s and two validations of 10 s.
constexpr Pace kPace{
    .step = 100, .steps_timed = 100, .elapsed = 120, .stepping = 100, .validating = 20};

TrainConfig ten_minutes() {
  TrainConfig config;
  config.run.minutes = 10;
  config.validation.eval_steps = 50;
  return config;
}

TEST(PlannedSteps, FillTheTimeExceptForTheLastValidation) {
  // 470 s remain besides it, and a step with its share of a validation takes 1.2 s.
  EXPECT_EQ(planned_steps(ten_minutes(), 0, kPace), 100 + static_cast<int64_t>(470 * 0.97 / 1.2));
}

TEST(PlannedSteps, AreTheStepsTakenWhenTheTimeIsOver) {
  Pace pace = kPace;
  pace.elapsed = 599;
  EXPECT_EQ(planned_steps(ten_minutes(), 0, pace), 100);
}

TEST(PlannedSteps, DoNotOverflowForTheLongestTime) {
  TrainConfig config = ten_minutes();
  config.run.minutes = 1e17;
  EXPECT_GT(planned_steps(config, 0, kPace), int64_t{1} << 48);
  Pace pace = kPace;
  pace.stepping = pace.validating = 0;  // a clock without progress
  EXPECT_GT(planned_steps(config, 0, pace), int64_t{1} << 48);
}

}  // namespace
}  // namespace heed::train
