#include "heed/inspect/attention/attention_svg.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "tests/inspect/example_capture.h"
#include "tests/inspect/page_checks.h"

namespace heed::inspect {
namespace {

TEST(XmlCheck, ReportsMalformedDocuments) {
  EXPECT_EQ(XmlCheck("<a b=\"1\"><c/>x &amp; y</a>").problem(), "");
  for (const std::string_view bad : {"<a>", "<a></b>", "<a>&</a>", "<a b=\"<\"/>", "<a b=1/>",
                                     "<a/><b/>", "<a b=\"1\" b=\"2\"/>", "text", "<a>\x01</a>"})
    EXPECT_NE(XmlCheck(bad).problem(), "") << bad;
}

TEST(AttentionSvg, IsWellFormedForEveryKindAndFigure) {
  const ExampleCapture example = ExampleCapture(9, 2, 3).add_all();
  for (const auto kind :
       {AttentionKind::encoder_self, AttentionKind::decoder_self, AttentionKind::cross})
    for (const auto figure : {AttentionFigure::lines, AttentionFigure::heatmap})
      for (const std::optional<int> head : {std::optional<int>(2), std::optional<int>()})
        EXPECT_EQ(
            XmlCheck(attention_svg(example.texts(), example.head(kind, 1, head), figure)).problem(),
            "");
}

TEST(AttentionSvg, EscapesTokens) {
  const ExampleCapture example = ExampleCapture(4, 1, 1).add(AttentionKind::cross);
  AttentionTexts texts = example.texts();
  texts.source_tokens[0] = "<&\"'>\x02\xff";
  texts.model_name = "a < b & c";
  for (const auto figure : {AttentionFigure::lines, AttentionFigure::heatmap}) {
    const std::string svg = attention_svg(texts, example.head(AttentionKind::cross, 0, 0), figure);
    EXPECT_EQ(XmlCheck(svg).problem(), "");
    EXPECT_NE(svg.find("&lt;&amp;&quot;&#39;&gt;\ufffd\ufffd"), svg.npos);
  }
}

TEST(AttentionSvg, TitlesNameKindLayerAndHead) {
  const ExampleCapture example = ExampleCapture(4, 2, 3).add_all();
  const std::string one =
      attention_svg(example.texts(), example.head(AttentionKind::decoder_self, 1, 2));
  EXPECT_NE(one.find("Masked decoder self-attention, layer 1, head 2"), one.npos);
  const std::string mean =
      attention_svg(example.texts(), example.head(AttentionKind::cross, 0, std::nullopt));
  EXPECT_NE(mean.find("Cross-attention, layer 0, mean of 3 heads"), mean.npos);
}

TEST(AttentionSvg, TheOpacityOfALineIsItsWeight) {
  AttentionTexts texts;
  texts.source_tokens = {"a", "b"};
  texts.target_tokens = {"x"};
  const std::vector<float> weights = {0.25f, 0.75f};
  const std::string svg = attention_svg(
      texts,
      {{AttentionKind::cross, 0, 0}, 1, Tensor::of({1, 2}, std::span<const float>(weights))});
  EXPECT_NE(svg.find("stroke-opacity=\"0.250\""), svg.npos);
  EXPECT_NE(svg.find("stroke-opacity=\"0.750\""), svg.npos);
}

TEST(AttentionSvg, AcceptsZeroTokensAndOneToken) {
  for (const int length : {0, 1})
    for (const auto figure : {AttentionFigure::lines, AttentionFigure::heatmap}) {
      const ExampleCapture example = ExampleCapture(length, 1, 1).add_all();
      EXPECT_EQ(
          XmlCheck(attention_svg(example.texts(), example.head(AttentionKind::cross, 0, 0), figure))
              .problem(),
          "");
    }
}

TEST(AttentionSvg, RefusesAMapThatDoesNotMatchTheTexts) {
  const ExampleCapture example = ExampleCapture(4, 1, 1).add(AttentionKind::cross);
  const auto message = [&](int64_t queries, int64_t keys) -> std::string {
    try {
      attention_svg(example.texts(),
                    {{AttentionKind::cross, 0, 0}, 1, Tensor::zeros({queries, keys})});
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(message(4, 4), "");
  EXPECT_EQ(message(3, 4), "cross attention is [3, 4], the texts have 4 queries and 4 keys");
  EXPECT_EQ(message(4, 5), "cross attention is [4, 5], the texts have 4 queries and 4 keys");
  EXPECT_EQ(message(4, 3), "the map has 3 of 4 keys, expected all");
}

}  // namespace
}  // namespace heed::inspect
