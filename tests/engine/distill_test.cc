#include "heed/distill.h"

#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "heed/engine/distill/teacher_text.h"
#include "heed/model.h"
#include "tests/base/testing.h"
#include "tests/engine/small_models.h"

namespace heed::engine {
namespace {

TaughtLine taught(const std::string& source, const std::string& target, double score = -1) {
  return {source, target, score, ""};
}

TEST(TaughtLines, AreFilteredByRepetitionLengthAndScore) {
  std::vector<TaughtLine> lines{taught("a b", "x y"), taught("a b", "z"),
                                taught("a", "x y z v w u"), taught("c d", "x y", -30)};
  for (int i = 0; i < 8; ++i) lines.push_back(taught("s" + std::to_string(i), "t"));
  const TaughtFilterReport report = filter_taught(lines, 3, 0.1);
  EXPECT_EQ(report.kept, 9);
  EXPECT_EQ(report.repeated, 1);
  EXPECT_EQ(report.unbalanced, 1);
  EXPECT_EQ(report.improbable, 1);
  EXPECT_EQ(lines.front().target, "x y");
  EXPECT_EQ(lines[1].source, "s0");
  EXPECT_EQ(report.text(),
            "9 of 12 translations kept; dropped: 1 repeated, 1 by length ratio, 1 improbable");
}

TEST(TaughtLines, AreReadAsTranslateWritesThem) {
  const TemporaryDirectory folder;
  const auto file = folder / "translations.txt";
  write_file_atomically(file, "0 ||| a ||| b ||| -0.500000 ||| 0-0 1-1\n\n2 |||  ||| -1.0 ||| \n");
  const auto lines = read_translations(file, {"x", "", "y"});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].source, "x");
  EXPECT_EQ(lines[0].target, "a ||| b");
  EXPECT_EQ(lines[0].score, -0.5);
  EXPECT_EQ(lines[0].alignment, "0-0 1-1");
  expect_error([&] { read_translations(file, {"x"}); }, "has 3 lines, the text has 1");
  write_file_atomically(file, "0 ||| a ||| b\n");
  expect_error([&] { read_translations(file, {"x"}); },
               "line 1: expected number, text, score and alignment");
}

class Distillations : public testing::Test {
 protected:
  Distillations() {
    const char* const words[] = {"the", "old", "sailor", "forgot", "sea", "sheep", "light", "man"};
    std::string text;
    for (size_t i = 0; i < 60; ++i) {
      for (size_t k = 0; k < 2 + i % 4; ++k)
        text += std::string(k ? " " : "") + words[(i * 5 + k * 3 + i / 8) % 8];
      text += '\n';
    }
    write_file_atomically(folder_ / "text", text);
  }

  /// A distillation that takes about a second.
  DistillOptions options(const std::string& out) const {
    const std::vector<std::string> short_run{"run.max_steps=6",         "run.num_train_epochs=0",
                                             "validation.eval_steps=3", "validation.sentences=4",
                                             "run.compute=f32",         "data.held_out=8"};
    DistillOptions made{.teacher = models().translator(),
                        .text = folder_ / "text",
                        .out = folder_ / out,
                        .max_ratio = 100,
                        .preset = "tiny",
                        .assignments = short_run,
                        .int8_assignments = short_run};
    for (const char* more : {"vocabulary.size=150", "model.d_model=32", "model.d_ff=64"})
      made.assignments.emplace_back(more);
    return made;
  }

  TemporaryDirectory folder_;
};

TEST_F(Distillations, MakeAStudentWithAShortlistAndATable) {
  const DistillResult result = distill_model(options("out"));
  EXPECT_TRUE(result.finished);
  ASSERT_EQ(result.stages.size(), 6u);
  EXPECT_EQ(result.stages[0].name, "teacher");
  EXPECT_NEAR(result.stages[0].bleu, 100, 1e-6) << "it is its own reference";
  for (const DistillStage& stage : result.stages)
    EXPECT_GT(stage.words_per_second, 0) << stage.name;
  EXPECT_LT(result.stages[3].bytes, 0.4 * static_cast<double>(result.stages[2].bytes));
  EXPECT_EQ(result.stages[4].bytes, result.stages[3].bytes);
  EXPECT_GT(result.stages[5].bytes, result.stages[4].bytes);
  const Model student = Model::load(result.model, {.shortlist = result.shortlist});
  EXPECT_EQ(student.translate_batch({"the old sailor"}).size(), 1u);
  EXPECT_GT(result.pairs, 10);
}

/// That a killed one ends with the same bytes: tests/cli/distill_test.sh.
TEST_F(Distillations, AreStoppedAndContinued) {
  DistillOptions parts = options("parts");
  int64_t stops = 0;
  for (DistillResult result; !result.finished; ++stops) {
    ASSERT_LT(stops, 10);
    int calls = 0;
    result = distill_model(parts, {.train = {.stop_requested = [&] { return ++calls > 8; }}});
    EXPECT_EQ(result.stages.size(), result.finished ? 6u : 0u);
    parts.resume = true;
  }
  EXPECT_GT(stops, 1);
}

TEST_F(Distillations, AreContinuedWithTheSameOptionsAlone) {
  DistillOptions begun = options("out");
  EXPECT_FALSE(distill_model(begun, {.train = {.stop_requested = [] { return true; }}}).finished);
  expect_error([&] { distill_model(begun); }, "has a distillation already");
  begun.resume = true;
  begun.drop = 0.5;
  expect_error([&] { distill_model(begun); }, "was begun with drop = 0.05, which is now 0.5");
  begun.drop = 0.05;
  begun.compute = Compute::int8;
  expect_error([&] { distill_model(begun); }, "was begun with compute = ");
}

TEST_F(Distillations, RefuseWrongOptionsBeforeAnythingIsWritten) {
  const auto refused = [&](auto change, const char* message) {
    DistillOptions wrong = options("out");
    change(wrong);
    expect_error([&] { distill_model(wrong); }, message);
    EXPECT_FALSE(path_exists(folder_ / "out"));
  };
  refused([](DistillOptions& o) { o.drop = 1; }, "drop is 1, expected 0 to 1");
  refused([](DistillOptions& o) { o.max_ratio = 0.5; }, "max_ratio is 0.5, expected at least 1");
  refused([](DistillOptions& o) { o.num_beams = 0; }, "num_beams is 0, expected 1 to 256");
  refused([](DistillOptions& o) { o.text = "none"; }, "none is no file");
  refused([](DistillOptions& o) { o.test_source = o.text; }, "only one of test_source and");
}

}  // namespace
}  // namespace heed::engine
