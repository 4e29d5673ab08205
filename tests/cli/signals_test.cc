#include "cli/terminal/signals.h"

#include <gtest/gtest.h>

#include <csignal>

#include "tests/base/child.h"

namespace heed::cli {
namespace {

/// Death tests start the program anew.
class StopRequestDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_start_itself()) GTEST_SKIP() << "the system cannot start this program (binfmt_misc)";
    testing::FLAGS_gtest_death_test_style = "threadsafe";
  }
};

TEST(StopRequest, IsSetByInterruptAndTerminate) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const StopRequest stop;
    EXPECT_FALSE(stop.requested());
    std::raise(signal);
    EXPECT_TRUE(stop.requested());
  }
}

TEST(StopRequest, ANewRequestStartsUnset) {
  {
    const StopRequest stop;
    std::raise(SIGINT);
  }
  const StopRequest stop;
  EXPECT_FALSE(stop.requested());
}

volatile std::sig_atomic_t seen = 0;

TEST(StopRequest, RestoresThePreviousHandler) {
  const auto before = std::signal(SIGTERM, [](int) { seen = 1; });
  { const StopRequest stop; }
  std::raise(SIGTERM);
  std::signal(SIGTERM, before);
  EXPECT_EQ(seen, 1);
}

TEST_F(StopRequestDeathTest, TheSecondSignalEndsTheProgram) {
  EXPECT_EXIT(
      {
        const StopRequest stop;
        std::raise(SIGINT);
        std::raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST_F(StopRequestDeathTest, TheSecondSignalMayBeTheOtherOne) {
  EXPECT_EXIT(
      {
        const StopRequest stop;
        std::raise(SIGINT);
        std::raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM), "");
}

TEST_F(StopRequestDeathTest, ASignalAfterDestructionEndsTheProgram) {
  EXPECT_EXIT(
      {
        { const StopRequest stop; }
        std::raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace heed::cli
