#include "heed/lines.h"

#include <deque>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "tests/engine/small_models.h"

namespace heed {
namespace {

/// Answers lines with their lengths.
class LinesTest : public testing::Test {
 protected:
  /// Reads `lines` and, after them, throws Error if they end too early.
  LineOptions options(std::deque<std::string> lines, bool broken = false) {
    return {.read =
                [lines = std::move(lines), broken](std::string& line) mutable {
                  require(!lines.empty() || !broken, "the input is broken");
                  if (lines.empty()) return false;
                  line = lines.front();
                  lines.pop_front();
                  return true;
                },
            .input_name = "the poem",
            .write =
                [this](const std::vector<LineAnswer>& answers) {
                  for (const LineAnswer& answer : answers) written_ += answer.text;
                }};
  }

  static AnswerLines lengths() {
    return answer_one_by_one([](const std::string& line, int64_t number) {
      require(!line.empty(), "it is empty");
      return LineAnswer(fmt::format("{} {}\n", number, line.size()),
                        {1, static_cast<double>(line.size())});
    });
  }

  const Model model_ = Model::load(engine::models().decoder());
  std::string written_;
};
using Lines = LinesTest;

TEST_F(Lines, AreAnsweredInOrderAndTheirNumbersAddedUp) {
  LineProcessor work(options({"the", "old", "ship"}));
  EXPECT_TRUE(work.is_root());
  const LineSums sums = work.answer(model_, lengths(), 2);
  work.conclude("end\n");
  EXPECT_EQ(written_, "1 3\n2 3\n3 4\nend\n");
  EXPECT_EQ(sums.all, (std::vector<double>{3, 10}));
  EXPECT_EQ(sums.here, sums.all);
}

TEST_F(Lines, BeforeAnErrorAreAnswered) {
  expect_error(
      [&] {
        LineProcessor(options({"the", "", "ship"})).answer(model_, lengths(), 2);
      },
      "line 2: it is empty");
  EXPECT_EQ(written_, "1 3\n");
  expect_error([&] { LineProcessor(options({"the"}, true)).answer(model_, lengths(), 2); },
               "the input is broken");
  EXPECT_EQ(written_, "1 3\n1 3\n");
  expect_error(
      [&] {
        LineProcessor(options({"the", "\xff"})).answer(model_, lengths(), 2);
      },
      "line 2 of the poem is not valid UTF-8");
}

TEST_F(Lines, ThatAreCollectedAreNotWritten) {
  const auto answers = LineProcessor(options({"the", "old"})).collect(model_, lengths());
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[1].text, "2 3\n");
  EXPECT_EQ(answers[1].rows, (std::vector<double>{1, 3}));
  EXPECT_EQ(written_, "");
}

TEST_F(Lines, OfAFileAreContinued) {
  const TemporaryDirectory folder;
  const auto resumed = [&](std::deque<std::string> lines) {
    LineOptions with_file = options(std::move(lines));
    with_file.resume = folder.path() / "answers";
    return with_file;
  };
  LineProcessor(resumed({"the", "old"})).answer(model_, lengths(), 2);
  const LineSums sums = LineProcessor(resumed({"the", "old", "ship"})).answer(model_, lengths(), 2);
  EXPECT_EQ(read_file(folder.path() / "answers"), "1 3\n2 3\n3 4\n");
  EXPECT_EQ(sums.all, (std::vector<double>{3, 10}));
  EXPECT_EQ(sums.here, (std::vector<double>{1, 4}));
  EXPECT_EQ(written_, "");
  expect_error([&] { LineProcessor(resumed({"the"})).answer(model_, lengths(), 2); },
               "the poem has fewer lines than");
  expect_error(
      [&] {
        LineProcessor(resumed({"an", "old", "ship"})).answer(model_, lengths(), 2);
      },
      "the first 3 of the poem");
}

TEST_F(Lines, ArePartsOfTheInputThatTheCallerKnows) {
  LineProcessor work(options({}));
  work.answer_parts("window", {"a", "bc"}, model_, lengths(), 2);
  EXPECT_EQ(written_, "1 1\n2 2\n");
}

TEST_F(Lines, CanBeFollowedByOthers) {
  LineProcessor work(options({}));
  work.answer_parts("window", {"a", "bc"}, model_,
                    answer_one_by_one([](const auto&, int64_t) { return LineAnswer("x\n"); }), 0);
  const LineSums sums = work.answer_parts("window", {"abc"}, model_, lengths(), 2);
  EXPECT_EQ(written_, "x\nx\n1 3\n");
  EXPECT_EQ(sums.all, (std::vector<double>{1, 3}));
}

TEST_F(Lines, AreRefusedWithoutWhatTheyNeed) {
  LineOptions silent = options({});
  silent.read = nullptr;
  expect_error([&] { LineProcessor(silent).answer(model_, lengths()); },
               "LineOptions::read is empty");
  expect_error([&] { LineProcessor(options({})).conclude("end\n"); }, "follows the answers");
  LineOptions file = options({"the"});
  file.resume = "answers";
  expect_error([&] { LineProcessor(file).collect(model_, lengths()); }, "not written to answers");
  LineOptions impatient = options({});
  impatient.rank_timeout = std::chrono::seconds(0);
  expect_error([&] { LineProcessor work(impatient); }, "rank_timeout is 0");
}

}  // namespace
}  // namespace heed
