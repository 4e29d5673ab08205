#include "heed/inspect/attention_svg.h"

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
  const AttentionCapture capture = ExampleCapture(9, 2, 3).add_all().get();
  for (const auto kind :
       {AttentionKind::encoder_self, AttentionKind::decoder_self, AttentionKind::cross})
    for (const auto figure : {AttentionFigure::lines, AttentionFigure::heatmap})
      for (const std::optional<int> head : {std::optional<int>(2), std::optional<int>()})
        EXPECT_EQ(XmlCheck(attention_svg(capture, kind, 1, head, figure)).problem(), "");
}

TEST(AttentionSvg, EscapesTokens) {
  AttentionCapture capture = ExampleCapture(4, 1, 1).add(AttentionKind::cross).get();
  capture.source_tokens[0] = "<&\"'>\x02\xff";
  capture.model_name = "a < b & c";
  for (const auto figure : {AttentionFigure::lines, AttentionFigure::heatmap}) {
    const std::string svg = attention_svg(capture, AttentionKind::cross, 0, 0, figure);
    EXPECT_EQ(XmlCheck(svg).problem(), "");
    EXPECT_NE(svg.find("&lt;&amp;&quot;&#39;&gt;\ufffd\ufffd"), svg.npos);
  }
}

TEST(AttentionSvg, TitleStatesKindLayerAndHead) {
  const AttentionCapture capture = ExampleCapture(4, 2, 3).add_all().get();
  const std::string one = attention_svg(capture, AttentionKind::decoder_self, 1, 2);
  EXPECT_NE(one.find("Masked decoder self-attention, layer 2, head 3 of 3"), one.npos);
  const std::string mean = attention_svg(capture, AttentionKind::cross, 0, std::nullopt);
  EXPECT_NE(mean.find("Cross-attention, layer 1, mean of 3 heads"), mean.npos);
}

TEST(AttentionSvg, OpacityOfALineIsItsWeight) {
  AttentionCapture capture;
  capture.source_tokens = {"a", "b"};
  capture.target_tokens = {"x"};
  const std::vector<float> weights = {0.25f, 0.75f};
  capture.maps = {
      {AttentionKind::cross, 0, Tensor::of({1, 1, 2}, std::span<const float>(weights))}};
  const std::string svg = attention_svg(capture, AttentionKind::cross, 0, 0);
  EXPECT_NE(svg.find("stroke-opacity=\"0.250\""), svg.npos);
  EXPECT_NE(svg.find("stroke-opacity=\"0.750\""), svg.npos);
}

TEST(AttentionSvg, AcceptsZeroTokensAndOneToken) {
  for (const int length : {0, 1})
    for (const auto figure : {AttentionFigure::lines, AttentionFigure::heatmap}) {
      const AttentionCapture capture = ExampleCapture(length, 1, 1).add_all().get();
      EXPECT_EQ(XmlCheck(attention_svg(capture, AttentionKind::cross, 0, 0, figure)).problem(), "");
    }
}

TEST(AttentionSvg, RejectsALayerOrHeadThatWasNotCaptured) {
  const AttentionCapture capture = ExampleCapture(4, 2, 3).add(AttentionKind::cross).get();
  const auto message = [&](AttentionKind kind, int layer, int head) -> std::string {
    try {
      attention_svg(capture, kind, layer, head);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(message(AttentionKind::cross, 5, 0),
            "no cross attention of layer 5 was captured; captured layers: 0, 1");
  EXPECT_EQ(message(AttentionKind::encoder_self, 0, 0),
            "no encoder_self attention of layer 0 was captured; captured layers: none");
  EXPECT_EQ(message(AttentionKind::cross, 1, 3),
            "cross attention of layer 1 has heads 0 to 2, found head 3");
}

}  // namespace
}  // namespace heed::inspect
