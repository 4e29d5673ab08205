#include "heed/inspect/attention/attention_page.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "tests/inspect/example_capture.h"
#include "tests/inspect/page_checks.h"

namespace heed::inspect {
namespace {

nlohmann::json description(const std::string& page) {
  return nlohmann::json::parse(between(page, "class=\"capture\">", "</script>"));
}

std::vector<float> weights_in(const std::string& page, const std::string& map) {
  return decoded(from_base64(between(page, "data-map=\"" + map + "\">", "</script>")));
}

TEST(AttentionPage, IsSelfContained) {
  expect_self_contained(attention_page(ExampleCapture(15, 6, 8).add_all().get()));
}

TEST(AttentionPage, ContainsEveryWeightWithinOne255th) {
  const ExampleCapture example = ExampleCapture(15, 3, 4).add_all();
  const std::string page = attention_page(example.get());
  for (const ExampleCapture::Layer& map : example.maps) {
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
  EXPECT_EQ(found["source"], nlohmann::json(capture.texts.source_tokens));
  EXPECT_EQ(found["target"], nlohmann::json(capture.texts.target_tokens));
  EXPECT_EQ(found["maps"].size(), 6u);
  EXPECT_EQ(found["maps"][5], (nlohmann::json{{"kind", "cross"}, {"layer", 1}, {"heads", 4}}));
  EXPECT_EQ(found["missing"], 0);
}

TEST(AttentionPage, EscapesAllText) {
  AttentionCapture capture = ExampleCapture(6, 1, 2).add(AttentionKind::cross).get();
  const std::string hostile = "</script><b>\"'&\u2028\xff";
  capture.texts.source_tokens[0] = capture.texts.target_tokens[1] = hostile;
  capture.texts.source_text = capture.texts.target_text = capture.texts.model_name = hostile;
  const std::string page = attention_page(capture);
  EXPECT_EQ(page.find("<b>"), page.npos);
  EXPECT_EQ(page.find("\u2028"), page.npos);
  EXPECT_EQ(page.find('\xff'), page.npos);
  EXPECT_EQ(description(page)["source"][0], "</script><b>\"'&⏎\ufffd");
}

TEST(AttentionPage, ShowsInvalidWeightsAsZeroAndCountsThem) {
  ExampleCapture example = ExampleCapture(6, 1, 1).add(AttentionKind::cross);
  for (int k = 0; k < 6; ++k)
    example.maps[0].weights.data<float>()[6 + k] = std::numeric_limits<float>::quiet_NaN();
  const std::string page = attention_page(example.get());
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

TEST(AttentionPage, RefusesACaptureWhoseMapsDoNotMatchItsTokens) {
  const auto message_of = [](const AttentionCapture& capture) -> std::string {
    try {
      attention_page(capture);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  const AttentionCapture capture = ExampleCapture(6, 1, 2).add(AttentionKind::cross).get();
  EXPECT_EQ(message_of(capture), "");
  EXPECT_EQ(message_of({capture.texts, {}}), "the capture has no attention maps");
  AttentionCapture longer = capture;
  longer.texts.source_tokens.push_back("x");
  EXPECT_EQ(message_of(longer),
            "cross attention of layer 0 is [6, 6], the texts have 6 queries and 7 keys");
}

}  // namespace
}  // namespace heed::inspect
