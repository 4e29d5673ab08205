#include "heed/inspect/attention_terminal.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "heed/base/error.h"
#include "heed/inspect/markup.h"
#include "tests/inspect/example_capture.h"

namespace heed::inspect {
namespace {

std::string without_colours(const std::string& text) {
  std::string plain;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\x1b') {
      at = text.find('m', at);
    } else {
      plain += text[at];
    }
  }
  return plain;
}

TEST(AttentionTerminal, FitsTheWidthOfTheTerminal) {
  for (const int length : {1, 6, 30, 100}) {
    const AttentionCapture capture = ExampleCapture(length, 1, 2).add_all().get();
    for (const int columns : {20, 40, 80, 81, 200})
      for (const bool color : {false, true}) {
        std::istringstream lines(
            attention_terminal(capture, AttentionKind::cross, 0, 1, columns, color));
        for (std::string line; std::getline(lines, line);)
          EXPECT_LE(width_of(without_colours(line)), columns) << line;
      }
  }
}

TEST(AttentionTerminal, ReportsOmittedColumns) {
  const AttentionCapture capture = ExampleCapture(100, 1, 1).add(AttentionKind::cross).get();
  const std::string narrow = attention_terminal(capture, AttentionKind::cross, 0, 0, 80, false);
  EXPECT_NE(narrow.find("of 100 columns omitted"), narrow.npos);
  const std::string wide = attention_terminal(capture, AttentionKind::cross, 0, 0, 300, false);
  EXPECT_EQ(wide.find("omitted"), wide.npos);
}

TEST(AttentionTerminal, WritesPercentagesIfTheyFit) {
  AttentionCapture capture;
  capture.source_tokens = {"▁a", "▁b"};
  capture.target_tokens = {"x"};
  const std::vector<float> weights = {0.25f, 0.75f};
  capture.maps = {
      {AttentionKind::cross, 0, Tensor::of({1, 1, 2}, std::span<const float>(weights))}};
  EXPECT_EQ(attention_terminal(capture, AttentionKind::cross, 0, 0, 60, false),
            "Cross-attention, layer 1, head 1 of 1\n"
            "rows: query tokens, columns: key tokens, weights in percent\n\n"
            "    ▁   ▁\n"
            "    a   b\n"
            "x  25  75 \n");
}

TEST(AttentionTerminal, WritesNoEscapeSequencesWithoutColour) {
  AttentionCapture capture = ExampleCapture(12, 1, 2).add_all().get();
  capture.source_tokens[3] = "\x1b[31mred\n";
  const std::string text =
      attention_terminal(capture, AttentionKind::encoder_self, 0, std::nullopt, 80, false);
  EXPECT_EQ(text.find('\x1b'), text.npos);
  EXPECT_NE(text.find("mean of 2 heads"), text.npos);
}

TEST(AttentionTerminal, AcceptsZeroTokensAndNaN) {
  const AttentionCapture empty = ExampleCapture(0, 1, 1).add(AttentionKind::cross).get();
  EXPECT_NE(attention_terminal(empty, AttentionKind::cross, 0, 0, 80, false).find("no tokens"),
            std::string::npos);
  AttentionCapture capture = ExampleCapture(2, 1, 1).add(AttentionKind::cross).get();
  capture.maps[0].weights = Tensor::full({1, 2, 2}, std::numeric_limits<float>::quiet_NaN());
  const std::string text = attention_terminal(capture, AttentionKind::cross, 0, 0, 80, false);
  EXPECT_NE(text.find("  .   . \n"), text.npos);
}

TEST(AttentionTerminal, RejectsACaptureWithoutMaps) {
  EXPECT_THROW(attention_terminal({}, AttentionKind::cross, 0, 0, 80, false), Error);
}

}  // namespace
}  // namespace heed::inspect
