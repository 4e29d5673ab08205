#include "heed/generate/prefill_budget.h"

#include <gtest/gtest.h>

namespace heed::generate {
namespace {

TEST(PrefillBudget, GivePromptsAShareOfTheTimeOfGeneration) {
  PrefillBudget times;
  times.add(0.010, 0, 16);           // 10 ms for the generated tokens
  times.add(0.010 + 0.02, 100, 16);  // and 0.2 ms for each token of a prompt
  EXPECT_NEAR(static_cast<double>(times.tokens()), 50 * PrefillBudget::kPrefillShare, 1);
}

TEST(PrefillBudget, GiveSomeTokensHoweverSlowPromptsAre) {
  PrefillBudget times;
  times.add(0.001, 0, 1);
  times.add(10, 10, 0);
  EXPECT_EQ(times.tokens(), PrefillBudget::kMinTokens);
}

TEST(PrefillBudget, AreUsableBeforeTheFirstMeasurement) {
  EXPECT_GE(PrefillBudget().tokens(), PrefillBudget::kMinTokens);
}

TEST(PrefillBudget, ForgetOldMeasurements) {
  PrefillBudget times;
  times.add(1, 0, 1);
  times.add(1.001, 1, 1);
  for (int i = 0; i < 100; ++i) times.add(0.01, 0, 1);
  EXPECT_NEAR(static_cast<double>(times.tokens()), 10 * PrefillBudget::kPrefillShare, 1);
}

}  // namespace
}  // namespace heed::generate
