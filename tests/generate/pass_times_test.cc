#include "heed/generate/pass_times.h"

#include <gtest/gtest.h>

namespace heed::generate {
namespace {

TEST(PassTimes, GivePromptsAShareOfTheTimeOfGeneration) {
  PassTimes times;
  times.add(0.010, 0, 16);           // 10 ms for the generated tokens
  times.add(0.010 + 0.02, 100, 16);  // and 0.2 ms for each token of a prompt
  EXPECT_NEAR(static_cast<double>(times.balanced_prompt_tokens()), 50 * PassTimes::kShare, 1);
}

TEST(PassTimes, GiveSomeTokensHoweverSlowPromptsAre) {
  PassTimes times;
  times.add(0.001, 0, 1);
  times.add(10, 10, 0);
  EXPECT_EQ(times.balanced_prompt_tokens(), PassTimes::kMinTokens);
}

TEST(PassTimes, AreUsableBeforeTheFirstMeasurement) {
  EXPECT_GE(PassTimes().balanced_prompt_tokens(), PassTimes::kMinTokens);
}

TEST(PassTimes, ForgetOldMeasurements) {
  PassTimes times;
  times.add(1, 0, 1);
  times.add(1.001, 1, 1);
  for (int i = 0; i < 100; ++i) times.add(0.01, 0, 1);
  EXPECT_NEAR(static_cast<double>(times.balanced_prompt_tokens()), 10 * PassTimes::kShare, 1);
}

}  // namespace
}  // namespace heed::generate
