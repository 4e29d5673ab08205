#include "heed/inspect/attention/attention_terminal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "heed/base/display.h"
#include "heed/base/error.h"
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
    const ExampleCapture example = ExampleCapture(length, 1, 2).add_all();
    const HeadMap map = example.head(AttentionKind::cross, 0, 1);
    for (const int columns : {20, 40, 80, 81, 200})
      for (const bool color : {false, true}) {
        std::istringstream lines(attention_terminal(example.texts(), map, columns, color));
        for (std::string line; std::getline(lines, line);)
          EXPECT_LE(width_of(without_colours(line)), columns) << line;
      }
  }
}

TEST(AttentionTerminal, CountsOmittedColumns) {
  const ExampleCapture example = ExampleCapture(100, 1, 1).add(AttentionKind::cross);
  const HeadMap map = example.head(AttentionKind::cross, 0, 0);
  const std::string narrow = attention_terminal(example.texts(), map, 80, false);
  EXPECT_NE(narrow.find("of 100 columns omitted"), narrow.npos);
  const std::string wide = attention_terminal(example.texts(), map, 300, false);
  EXPECT_EQ(wide.find("omitted"), wide.npos);
}

TEST(AttentionTerminal, NeedsOnlyTheKeysThatItShows) {
  const ExampleCapture example = ExampleCapture(100, 1, 1).add(AttentionKind::cross);
  HeadMap map = example.head(AttentionKind::cross, 0, 0);
  const std::string whole = attention_terminal(example.texts(), map, 80, false);
  const int64_t shown = keys_shown(example.texts(), AttentionKind::cross, 80);
  ASSERT_LT(shown, 50);
  Tensor part = Tensor::empty({100, shown});
  for (int64_t q = 0; q < 100; ++q)
    std::copy_n(map.weights.data<float>() + q * 100, shown, part.data<float>() + q * shown);
  map.weights = part;
  EXPECT_EQ(attention_terminal(example.texts(), map, 80, false), whole);
  EXPECT_THROW(attention_terminal(example.texts(), map, 81 + 2, false), Error);
}

TEST(AttentionTerminal, WritesPercentWhereThereIsRoom) {
  AttentionTexts texts;
  texts.source_tokens = {"▁a", "▁b"};
  texts.target_tokens = {"x"};
  const std::vector<float> weights = {0.25f, 0.75f};
  const HeadMap map{
      {AttentionKind::cross, 0, 0}, 1, Tensor::of({1, 2}, std::span<const float>(weights))};
  EXPECT_EQ(attention_terminal(texts, map, 60, false),
            "Cross-attention, layer 0, head 0\n"
            "rows: query tokens, columns: key tokens, weights in percent\n\n"
            "    ▁   ▁\n"
            "    a   b\n"
            "x  25  75 \n");
}

TEST(AttentionTerminal, WithoutColourThereAreNoEscapeSequences) {
  const ExampleCapture example = ExampleCapture(12, 1, 2).add_all();
  AttentionTexts texts = example.texts();
  texts.source_tokens[3] = "\x1b[31mred\n";
  const std::string text = attention_terminal(
      texts, example.head(AttentionKind::encoder_self, 0, std::nullopt), 80, false);
  EXPECT_EQ(text.find('\x1b'), text.npos);
  EXPECT_NE(text.find("mean of 2 heads"), text.npos);
}

TEST(AttentionTerminal, AcceptsZeroTokens) {
  const ExampleCapture empty = ExampleCapture(0, 1, 1).add(AttentionKind::cross);
  EXPECT_NE(attention_terminal(empty.texts(), empty.head(AttentionKind::cross, 0, 0), 80, false)
                .find("no tokens"),
            std::string::npos);
}

TEST(AttentionTerminal, RefusesAMapWithoutWeights) {
  EXPECT_THROW(attention_terminal({}, {}, 80, false), Error);
}

}  // namespace
}  // namespace heed::inspect
