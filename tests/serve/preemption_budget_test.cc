#include "heed/serve/preemption_budget.h"

#include <gtest/gtest.h>

namespace heed::serve {
namespace {

using namespace std::chrono_literals;

TEST(PreemptionBudget, AllowsInterruptionsThatAreRare) {
  PreemptionBudget budget;
  auto now = PreemptionBudget::Clock::now();
  for (int i = 0; i < 100; ++i) {
    budget.refill(now += 1s);
    ASSERT_TRUE(budget.allows());
    budget.spend(150ms);
  }
}

TEST(PreemptionBudget, LimitsTheShareOfTimeThatIsWasted) {
  PreemptionBudget budget;
  const auto begin = PreemptionBudget::Clock::now();
  auto now = begin;
  auto wasted = 0ms;
  while (now < begin + 60s) {
    budget.refill(now);
    const auto step = 40ms;
    if (budget.allows()) {  // and every step is interrupted that may be
      budget.spend(step);
      wasted += step;
    }
    now += step;
  }
  EXPECT_LT(wasted, 60s * PreemptionBudget::kShare + PreemptionBudget::kMost + 100ms);
  EXPECT_GT(wasted, 60s * PreemptionBudget::kShare * 0.8);
}

TEST(PreemptionBudget, DoesNotGrowWithoutEnd) {
  PreemptionBudget budget;
  budget.refill(PreemptionBudget::Clock::now() + 1h);
  budget.spend(PreemptionBudget::kMost);
  EXPECT_FALSE(budget.allows());
}

}  // namespace
}  // namespace heed::serve
