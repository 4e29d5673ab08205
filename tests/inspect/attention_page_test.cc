#include "heed/inspect/attention_page.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/inspect/attention_data.h"
#include "tests/inspect/example_capture.h"
#include "tests/inspect/page_checks.h"

namespace heed::inspect {
namespace {

nlohmann::json description(const std::string& page) {
  return nlohmann::json::parse(between(page, "class=\"capture\">", "</script>"));
}

std::vector<float> weights_in(const std::string& page, const std::string& map) {
  return unpacked(from_base64(between(page, "data-map=\"" + map + "\">", "</script>")));
}

std::string message_of(const AttentionCapture& capture) {
  try {
    attention_page(capture);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(AttentionPage, IsSelfContained) {
  expect_self_contained(attention_page(ExampleCapture(15, 6, 8).add_all().get()));
}

TEST(AttentionPage, ContainsEveryWeightToWithinOne255th) {
  const AttentionCapture capture = ExampleCapture(15, 3, 4).add_all().get();
  const std::string page = attention_page(capture);
  for (const AttentionMap& map : capture.maps) {
    const auto size = static_cast<size_t>(map.weights.elements() / 4);
    for (size_t head = 0; head < 4; ++head) {
      const std::vector<float> found =
          weights_in(page, fmt::format("{}/{}/{}", name_of(map.kind), map.layer, head));
      ASSERT_EQ(found.size(), size);
      for (size_t i = 0; i < size; ++i)
        EXPECT_NEAR(found[i], map.weights.data<float>()[head * size + i], 1.0f / 255);
    }
  }
}

TEST(AttentionPage, DescribesTokensAndMaps) {
  const AttentionCapture capture = ExampleCapture(6, 2, 4).add_all().get();
  const nlohmann::json found = description(attention_page(capture));
  EXPECT_EQ(found["source"], nlohmann::json(capture.source_tokens));
  EXPECT_EQ(found["target"], nlohmann::json(capture.target_tokens));
  EXPECT_EQ(found["maps"].size(), 6u);
  EXPECT_EQ(found["maps"][5], (nlohmann::json{{"kind", "cross"}, {"layer", 1}, {"heads", 4}}));
  EXPECT_EQ(found["missing"], 0);
}

TEST(AttentionPage, EscapesAllText) {
  AttentionCapture capture = ExampleCapture(6, 1, 2).add(AttentionKind::cross).get();
  const std::string hostile = "</script><b>\"'&\u2028\xff";
  capture.source_tokens[0] = capture.target_tokens[1] = hostile;
  capture.source_text = capture.target_text = capture.model_name = hostile;
  const std::string page = attention_page(capture);
  EXPECT_EQ(page.find("<b>"), page.npos);
  EXPECT_EQ(page.find("\u2028"), page.npos);
  EXPECT_EQ(page.find('\xff'), page.npos);
  EXPECT_EQ(description(page)["source"][0], "</script><b>\"'&⏎\ufffd");
}

TEST(AttentionPage, ReplacesNaNByZeroAndReportsTheirNumber) {
  AttentionCapture capture = ExampleCapture(6, 1, 1).add(AttentionKind::cross).get();
  capture.maps[0].weights = capture.maps[0].weights.clone();
  for (int k = 0; k < 6; ++k)
    capture.maps[0].weights.data<float>()[6 + k] = std::numeric_limits<float>::quiet_NaN();
  const std::string page = attention_page(capture);
  EXPECT_EQ(description(page)["missing"], 6);
  const std::vector<float> found = weights_in(page, "cross/0/0");
  for (size_t k = 0; k < 6; ++k) EXPECT_EQ(found[6 + k], 0.0f);
}

TEST(AttentionPage, AcceptsZeroTokensAndOneToken) {
  for (const int length : {0, 1}) {
    const std::string page = attention_page(ExampleCapture(length, 1, 2).add_all().get());
    EXPECT_EQ(weights_in(page, "cross/0/1").size(), static_cast<size_t>(length));
  }
}

TEST(AttentionPage, RejectsAnInconsistentCapture) {
  AttentionCapture capture = ExampleCapture(6, 1, 2).add(AttentionKind::cross).get();
  AttentionCapture none = capture;
  none.maps.clear();
  EXPECT_NE(message_of(none).find("contains no maps"), std::string::npos);
  AttentionCapture longer = capture;
  longer.source_tokens.push_back("x");
  EXPECT_NE(message_of(longer).find("is [2, 6, 6]"), std::string::npos);
  AttentionCapture twice = capture;
  twice.maps.push_back(twice.maps[0]);
  EXPECT_NE(message_of(twice).find("occurs twice"), std::string::npos);
  AttentionCapture flat = capture;
  flat.maps[0].weights = Tensor::zeros({6, 6});
  EXPECT_NE(message_of(flat).find("expected [heads, queries, keys]"), std::string::npos);
  AttentionCapture integers = capture;
  integers.maps[0].weights = Tensor::zeros({2, 6, 6}, DType::i32);
  EXPECT_NE(message_of(integers).find("expected f32"), std::string::npos);
  AttentionCapture headless = capture;
  headless.maps[0].weights = Tensor::zeros({0, 6, 6});
  EXPECT_NE(message_of(headless).find("no heads"), std::string::npos);
}

TEST(AttentionData, DropsSmallWeightsToFitTheBudget) {
  const AttentionCapture capture = ExampleCapture(200, 1, 4).add(AttentionKind::cross).get();
  const std::string all = attention_data(capture);
  const std::string fewer = attention_data(capture, static_cast<int64_t>(all.size()) / 2);
  EXPECT_EQ(description(all)["floor"], 1);
  EXPECT_GT(description(fewer)["floor"], 1);
  EXPECT_LT(fewer.size(), all.size());
  const std::vector<float> found = weights_in(fewer, "cross/0/2");
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], capture.maps[0].weights.data<float>()[2 * found.size() + i], 1.0f / 255);
}

TEST(AttentionData, IsDeterministic) {
  const AttentionCapture capture = ExampleCapture(40, 2, 4).add_all().get();
  EXPECT_EQ(attention_data(capture), attention_data(capture));
}

}  // namespace
}  // namespace heed::inspect
