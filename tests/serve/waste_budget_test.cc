#include "heed/serve/waste_budget.h"

#include <gtest/gtest.h>

namespace heed::serve {
namespace {

using namespace std::chrono_literals;

TEST(WasteBudget, AllowsInterruptionsThatAreRare) {
  WasteBudget budget;
  auto now = WasteBudget::Clock::now();
  for (int i = 0; i < 100; ++i) {
    budget.refill(now += 1s);
    ASSERT_TRUE(budget.allows());
    budget.spend(150ms);
  }
}

TEST(WasteBudget, LimitsTheShareOfTimeThatIsWasted) {
  WasteBudget budget;
  const auto begin = WasteBudget::Clock::now();
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
  EXPECT_LT(wasted, 60s * WasteBudget::kShare + WasteBudget::kMost + 100ms);
  EXPECT_GT(wasted, 60s * WasteBudget::kShare * 0.8);
}

TEST(WasteBudget, DoesNotGrowWithoutEnd) {
  WasteBudget budget;
  budget.refill(WasteBudget::Clock::now() + 1h);
  budget.spend(WasteBudget::kMost);
  EXPECT_FALSE(budget.allows());
}

}  // namespace
}  // namespace heed::serve
