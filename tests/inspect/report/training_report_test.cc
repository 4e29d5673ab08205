#include "heed/inspect/report/training_report.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/inspect/report/report_series.h"
#include "heed/inspect/report/word_difference.h"
#include "tests/inspect/example_report.h"
#include "tests/inspect/page_checks.h"

namespace heed::inspect {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(TrainingReport, IsSelfContained) {
  expect_self_contained(training_report(example_report(500, 100)));
}

TEST(TrainingReport, ShowsFiguresValidationsAndFacts) {
  const std::string page = training_report(example_report(500, 100));
  EXPECT_NE(page.find("Best BLEU"), page.npos);
  EXPECT_NE(page.find("60.5 million"), page.npos);
  EXPECT_NE(page.find("<tr class=\"best\"><td>500</td><td>14 min 10 s</td>"), page.npos);
  EXPECT_NE(page.find("data-map=\"cross/5/7\""), page.npos);
}

TEST(TrainingReport, EscapesAllText) {
  TrainingReport report = example_report(10, 5);
  report.title = "<i>t</i>";
  report.facts = {{"<i>", "</script>&"}};
  const std::string page = training_report(report);
  EXPECT_EQ(page.find("<i>"), page.npos);
  EXPECT_EQ(page.find("<b>"), page.npos);
  EXPECT_NE(page.find("&lt;/script&gt;&amp;"), page.npos);
}

TEST(TrainingReport, AcceptsAnEmptyRun) {
  const std::string page = training_report({});
  EXPECT_NE(page.find("Training report"), page.npos);
  EXPECT_EQ(page.find("Validations"), page.npos);
}

TEST(TrainingReport, OmitsUnknownNumbers) {
  TrainingReport report;
  report.steps = {{.step = 1,
                   .seconds = kNan,
                   .loss = kNan,
                   .gradient_norm = kNan,
                   .learning_rate = kNan,
                   .tokens_per_second = kNan}};
  train::ValidationRecord& validation = report.validations.emplace_back();
  validation.step = 1;
  validation.seconds = validation.loss = validation.perplexity = kNan;
  const std::string page = training_report(report);
  EXPECT_EQ(between(page, "class=\"value\">", "<"), "1");
  EXPECT_NE(page.find("\"loss\":[null]"), page.npos);
}

TEST(TrainingReport, OfALanguageModelDoesNotMentionTranslation) {
  TrainingReport report = example_report(10, 5);
  for (train::ValidationRecord& validation : report.validations)
    validation.bleu = validation.chrf = std::nullopt;
  report.samples = {{{"In the", "beginning", "<end>"}, {}}};
  report.sample_names = {"prompt", "reference", "continuation"};
  const std::string page = training_report(report);
  EXPECT_EQ(page.find("<th>BLEU</th>"), page.npos);
  EXPECT_EQ(page.find("Best BLEU"), page.npos);
  EXPECT_EQ(page.find("ranslation"), page.npos);
  EXPECT_NE(page.find("<th>perplexity</th>"), page.npos);
  EXPECT_NE(page.find("Continuation</span><span dir=\"auto\"><mark>&lt;end&gt;"), page.npos);
}

TEST(TrainingReport, RefusesASampleWhoseAttentionDoesNotMatchItsTexts) {
  TrainingReport report = example_report(10, 5);
  report.samples[0].attention.texts.source_tokens.pop_back();
  EXPECT_THROW(training_report(report), Error);
}

TEST(ReportSeries, HasAtMostAThousandPoints) {
  const TrainingReport report = example_report(123456, 10000);
  const std::string text = report_series(report);
  EXPECT_LT(text.size(), 120000u);
  const nlohmann::json steps = nlohmann::json::parse(text)["steps"];
  EXPECT_LE(steps["step"].size(), 1000u);
  EXPECT_EQ(steps["step"].back(), 123456);
  for (const auto& [name, values] : steps.items())
    EXPECT_EQ(values.size(), steps["step"].size()) << name;
}

TEST(ReportSeries, AggregatesStepsToMeanAndRange) {
  TrainingReport report;
  for (int step = 1; step <= 2000; ++step)
    report.steps.push_back({.step = step, .seconds = 2.0 * step, .loss = step % 2 ? 1.0 : 4.0});
  report.steps[7].loss = kNan;  // an outlier that was skipped
  const nlohmann::json steps = nlohmann::json::parse(report_series(report))["steps"];
  ASSERT_EQ(steps["step"].size(), 1000u);
  EXPECT_EQ(steps["step"][0], 2);
  EXPECT_EQ(steps["seconds"][0], 4);
  EXPECT_EQ(steps["loss"][0], 2.5);
  EXPECT_EQ(steps["loss_min"][0], 1);
  EXPECT_EQ(steps["loss_max"][0], 4);
  EXPECT_EQ(steps["loss"][3], 1);
}

TEST(ReportSeries, DoesNotAggregateFewSteps) {
  const nlohmann::json steps = nlohmann::json::parse(report_series(example_report(7, 7)))["steps"];
  EXPECT_EQ(steps["step"], nlohmann::json({1, 2, 3, 4, 5, 6, 7}));
}

TEST(WordDifference, MarksWordsThatTheOtherTextLacks) {
  using Pair = std::pair<std::string, std::string>;
  EXPECT_EQ(marked_differences("a b c", "a x c"),
            (Pair{"a <mark>b</mark> c", "a <mark>x</mark> c"}));
  EXPECT_EQ(marked_differences("a b c d", "a d"), (Pair{"a <mark>b c</mark> d", "a d"}));
  EXPECT_EQ(marked_differences("same", "same"), (Pair{"same", "same"}));
  EXPECT_EQ(marked_differences("", "new"), (Pair{"", "<mark>new</mark>"}));
  EXPECT_EQ(marked_differences("<a> &", "<b> &"),
            (Pair{"<mark>&lt;a&gt;</mark> &amp;", "<mark>&lt;b&gt;</mark> &amp;"}));
  EXPECT_EQ(marked_differences("我爱你", "我恨你"),
            (Pair{"我<mark>爱</mark>你", "我<mark>恨</mark>你"}));
}

TEST(WordDifference, DoesNotCompareLongTexts) {
  std::string text;
  for (int i = 0; i < 1500; ++i) text += "word ";
  EXPECT_EQ(marked_differences(text, "x").first.find("<mark>"), std::string::npos);
}

}  // namespace
}  // namespace heed::inspect
