#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/metrics.h"
#include "heed/metrics/metric_version.h"
#include "heed/metrics/numpy_random.h"

namespace heed::metrics {
namespace {

using Json = nlohmann::json;
using Systems = std::vector<std::vector<std::string>>;
using Kind = SignificanceOptions::Test;

const Json& golden_tests() {
  static const Json expected = Json::parse(
      read_file(std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/metrics/significance.json"));
  return expected;
}

TEST(NumpyGenerator, DrawsNumpysNumbers) {
  for (const Json& drawn : golden_tests()["random"]) {
    NumpyGenerator generator(drawn["seed"].get<uint64_t>());
    const Json& draws = drawn["draws"];
    const uint64_t counts[] = {1, 2, 7, 1000, uint64_t{3} << 30};
    for (size_t i = 0; i < std::size(counts); ++i)
      for (const uint32_t number : draws[i]) EXPECT_EQ(generator.integer(counts[i]), number);
    NumpyGenerator::Bools bools(generator);
    for (const int value : draws[5]) EXPECT_EQ(bools.next(), value == 1);
    for (const uint32_t number : draws[6]) EXPECT_EQ(generator.integer(10), number);
  }
}

MetricChoice choice_of(const std::string& name) {
  MetricChoice choice;
  if (name == "ter") {
    choice.metric = MetricChoice::Metric::ter;
    choice.ter.normalized = true;
  } else if (name != "bleu") {
    choice.metric = MetricChoice::Metric::chrf;
    choice.chrf.word_order = name == "chrf++" ? 2 : 0;
  }
  return choice;
}

void expect_equal(const SystemScores& scores, const Json& expected, const Json& results,
                  const std::string& signature) {
  EXPECT_EQ(scores.signature, signature + "|version:" + kMetricVersion);
  for (size_t s = 0; s < scores.systems.size(); ++s) {
    EXPECT_NEAR(scores.systems[s].score, expected["scores"][s], 1e-12);
    EXPECT_EQ(scores.systems[s].p_value.has_value(), results[s].contains("p_value"));
    if (scores.systems[s].p_value) {
      EXPECT_EQ(*scores.systems[s].p_value, results[s]["p_value"]);
    }
    EXPECT_EQ(scores.systems[s].interval.has_value(), results[s].contains("mean"));
    if (!scores.systems[s].interval) continue;
    EXPECT_EQ(scores.systems[s].interval->mean, results[s]["mean"]);
    EXPECT_EQ(scores.systems[s].interval->half_width, results[s]["ci"]);
  }
}

TEST(Significance, IsThatOfSacrebleuToTheBit) {
  for (const Json& test : golden_tests()["tests"])
    for (const auto& [name, expected] : test["results"].items()) {
      SCOPED_TRACE(name);
      const Systems systems = test["systems"], references = test["references"];
      const MetricChoice choice = choice_of(name);
      expect_equal(score_systems(choice, systems, references,
                                 {.test = Kind::paired_bootstrap, .trials = 100}),
                   expected, expected["bs"], expected["signatures"][1]);
      expect_equal(score_systems(choice, systems, references,
                                 {.test = Kind::paired_approximate_randomization, .trials = 100}),
                   expected, expected["ar"], expected["signatures"][2]);
      const SystemScores alone = score_systems(choice, {systems[0]}, references,
                                               {.test = Kind::confidence, .trials = 100});
      EXPECT_EQ(alone.systems[0].text, expected["text"]);
      EXPECT_NEAR(alone.systems[0].interval->mean, expected["confidence"][0], 1e-12);
      EXPECT_EQ(alone.systems[0].interval->half_width, expected["confidence"][1]);
      EXPECT_EQ(alone.signature,
                expected["signatures"][0].get<std::string>() + "|version:" + kMetricVersion);
    }
}

TEST(Significance, IsTheSameOnAnyNumberOfThreads) {
  const Json& test = golden_tests()["tests"][0];
  const auto p_value = [&](int threads) {
    Executor executor(threads);
    const ExecutorScope scope(executor);
    return *score_systems(choice_of("chrf"), test["systems"], test["references"],
                          {.test = Kind::paired_bootstrap})
                .systems[1]
                .p_value;
  };
  EXPECT_EQ(p_value(1), p_value(3));
}

TEST(Significance, OfASystemBesideItselfIs1) {
  const Systems systems = {{"a b", "c"}, {"a b", "c"}}, references = {{"a d", "c"}};
  for (const Kind test : {Kind::paired_bootstrap, Kind::paired_approximate_randomization})
    EXPECT_GT(
        *score_systems({}, systems, references, {.test = test, .trials = 50}).systems[1].p_value,
        0.009);
}

std::string test_error(const Systems& systems, const SignificanceOptions& options) {
  try {
    score_systems({}, systems, {{"a"}}, options);
  } catch (const Error& caught) {
    return caught.what();
  }
  return "no error";
}

TEST(Significance, RejectsWhatCannotBeTested) {
  EXPECT_EQ(test_error({}, {}), "expected at least one system, found none");
  EXPECT_EQ(test_error({{"a"}}, {.test = Kind::paired_bootstrap}),
            "a paired test needs at least two systems, found 1");
  EXPECT_EQ(test_error({{"a"}}, {.test = Kind::confidence, .trials = 0}),
            "the number of trials is 0, expected 1 to 1000000");
  EXPECT_EQ(test_error({{"a"}, {"a", "b"}}, {}),
            "BLEU needs one reference per translation, found 2 translations and 1 references");
}

}  // namespace
}  // namespace heed::metrics
