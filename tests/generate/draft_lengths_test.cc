#include "heed/generate/speculation/draft_lengths.h"

#include <gtest/gtest.h>

#include "tests/generate/jobs.h"

namespace heed::generate {
namespace {

constexpr DraftSource::Acceptances kExpected{0, 0.6};

/// One request on a machine whose passes take 10 ms, and `row` seconds for each further row.
class Simulation {
 public:
  Simulation(double acceptance, double row, double draft = 0)
      : acceptance_(acceptance), row_(row), draft_(draft) {}

  /// Generates so many tokens. Returns how much faster than without drafts.
  double run(int64_t tokens) {
    double seconds = 0;
    int64_t generated = 0;
    while (generated < tokens) {
      const int64_t drafted = lengths_.choose(1, 1, 1, 16);
      int64_t accepted = 0;
      while (accepted < drafted && static_cast<double>(random_.below(1000)) < 1000 * acceptance_)
        ++accepted;
      const DraftLengths::Pass pass{.rows = 1 + drafted,
                                    .drafted = drafted,
                                    .accepted = accepted,
                                    .seconds = kPass + row_ * static_cast<double>(drafted),
                                    .draft_seconds = draft_ * static_cast<double>(drafted)};
      lengths_.add_verified(1, drafted, accepted);
      lengths_.add(pass);
      seconds += pass.seconds + pass.draft_seconds;
      generated += 1 + accepted;
      longest_ = std::max(longest_, drafted);
    }
    return kPass * static_cast<double>(generated) / seconds;
  }

  void set_acceptance(double acceptance) { acceptance_ = acceptance; }
  int64_t longest() const { return longest_; }

 private:
  static constexpr double kPass = 0.010;

  DraftLengths lengths_{kExpected};
  Random random_{3};
  double acceptance_, row_, draft_;
  int64_t longest_ = 0;
};

TEST(DraftLengths, DraftLongWhenDraftsAreRightAndRowsAreCheap) {
  Simulation simulation(0.95, 0.0002);
  EXPECT_GT(simulation.run(500), 5.0);
  EXPECT_EQ(simulation.longest(), DraftLengths::kMax);
}

TEST(DraftLengths, DraftShortWhenRowsAreDear) {
  Simulation simulation(0.7, 0.004);
  EXPECT_GT(simulation.run(500), 1.05);
  EXPECT_LE(simulation.longest(), 6);
}

TEST(DraftLengths, LoseLittleWhenDraftsAreWrong) {
  for (const double row : {0.001, 0.005, 0.02})
    for (const double draft : {0.0, 0.004}) {
      Simulation simulation(0.1, row, draft);
      simulation.run(100);
      EXPECT_GT(simulation.run(2000), 0.97) << row << ", " << draft;
    }
}

TEST(DraftLengths, LoseLittleOfAFirstOutput) {
  EXPECT_GT(Simulation(0.05, 0.003).run(128), 0.95);
  EXPECT_GT(Simulation(0.05, 0.003, 0.004).run(128), 0.95);
}

TEST(DraftLengths, NoticeWhenDraftsBecomeRight) {
  Simulation simulation(0.0, 0.001);
  simulation.run(1000);
  simulation.set_acceptance(0.95);
  simulation.run(500);
  EXPECT_GT(simulation.run(500), 2.5);
}

TEST(DraftLengths, DraftNothingBeforeAPassWasMeasuredOrWithoutRoom) {
  DraftLengths lengths(kExpected);
  EXPECT_EQ(lengths.choose(1, 1, 1, 16), 0);
  lengths.add({.rows = 1, .seconds = 0.01});
  EXPECT_GT(lengths.choose(1, 1, 1, 16), 0);
  EXPECT_EQ(lengths.choose(1, 1, 1, 1), 1);
  EXPECT_EQ(lengths.choose(1, 1, 1, 0), 0);
  EXPECT_EQ(lengths.choose(0, 1, 1, 16), 0);
}

TEST(DraftLengths, StopWhenReadingForDraftsTakesMoreThanTheySave) {
  DraftLengths lengths(kExpected);
  double seconds = 0;
  for (int request = 0; request < 100; ++request)  // of 20 tokens each, all drafted right
    for (int64_t tokens = 0; tokens < 20;) {
      const int64_t drafted = lengths.choose(1, 1, 1, 19 - tokens);
      lengths.add_verified(1, drafted, drafted);
      const double read = drafted > 0 && tokens <= 1 ? 0.5 : 0.0;
      lengths.add({.rows = 1 + drafted,
                   .drafted = drafted,
                   .accepted = drafted,
                   .seconds = 0.01,
                   .draft_seconds = 0.001 * static_cast<double>(drafted),
                   .read_seconds = read});
      seconds += 0.01 + read;
      tokens += 1 + drafted;
    }
  const double without = 100 * 20 * 0.01, first_reading = 0.5;
  EXPECT_LT(seconds, 1.03 * without + first_reading);
}

TEST(DraftLengths, CountWhatADraftCostsTheOtherRequests) {
  DraftLengths lengths(kExpected);
  // 64 rows keep the processor busy: each row costs a 64th.
  for (const int64_t rows : {1, 64, 65, 70, 80})
    lengths.add({.rows = rows, .seconds = 0.01 * static_cast<double>(rows)});
  EXPECT_EQ(lengths.choose(1, 64, 64, 16), 0);
}

}  // namespace
}  // namespace heed::generate
