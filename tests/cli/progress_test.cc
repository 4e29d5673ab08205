#include "cli/terminal/progress.h"

#include <gtest/gtest.h>

namespace heed::cli {
namespace {

/// What `show` writes to standard error, which is a file here.
template <typename Show>
std::string shown(const Show& show) {
  testing::internal::CaptureStderr();
  Progress progress;
  show(progress);
  return testing::internal::GetCapturedStderr();
}

StepRecord record_at(int64_t step, double seconds) {
  return {.step = step,
          .epoch = 0,
          .seconds = seconds,
          .loss = 2.34567,
          .gradient_norm = 0.456,
          .learning_rate = 0.00123,
          .tokens_per_second = 45678.9};
}

TEST(Progress, PrintsALineForAStepAndForAMessage) {
  EXPECT_EQ(shown([](Progress& progress) {
              progress.log("model: 12 parameters");
              progress.step(record_at(7, 1), 100, 3723);
              progress.log("done");
            }),
            "model: 12 parameters\n"
            "step 7/100  loss 2.346  gradient 0.46  rate 1.23e-03  45679 tokens/s, "
            "1:02:03 left\n"
            "done\n");
}

TEST(Progress, LeavesOutWhatIsNotPlannedYet) {
  EXPECT_EQ(shown([](Progress& progress) { progress.step(record_at(7, 1), 0, 0); }),
            "step 7  loss 2.346  gradient 0.46  rate 1.23e-03  45679 tokens/s\n");
}

TEST(Progress, PrintsAStepEvery15SecondsUnlessOnATerminal) {
  const std::string text = shown([](Progress& progress) {
    for (int64_t step = 1; step <= 40; ++step)
      progress.step(record_at(step, static_cast<double>(step)), 0, 0);
  });
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  for (const std::string step : {"step 1 ", "step 16 ", "step 31 "})
    EXPECT_NE(text.find(step), std::string::npos) << text;
}

}  // namespace
}  // namespace heed::cli
