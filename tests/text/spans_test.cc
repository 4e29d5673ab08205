// Where tokens are in a text, compared with the offsets of `tokenizers`
// (tests/golden/tokenizers/offsets.py).
#include <gtest/gtest.h>

#include "heed/text/utf8.h"
#include "tests/text/golden_tokenizers.h"

namespace heed::text {
namespace {

class Spans : public ::testing::TestWithParam<const char*> {};

/// Spans in bytes as pairs of characters.
std::vector<std::vector<int>> in_characters(const std::string& text,
                                            const std::vector<TextSpan>& spans) {
  std::vector<int> characters(text.size() + 1, 0);  // before each byte
  for (size_t i = 0; i < text.size(); ++i)
    characters[i + 1] = characters[i] + ((text[i] & 0xC0) != 0x80 ? 1 : 0);
  std::vector<std::vector<int>> pairs;
  for (const TextSpan span : spans) pairs.push_back({characters[span.begin], characters[span.end]});
  return pairs;
}

TEST_P(Spans, EqualTheOffsetsOfTokenizers) {
  const Tokenizer tokenizer = golden_tokenizer(GetParam());
  const auto golden = nlohmann::json::parse(read_file(kGoldenTokenizers / "offsets.json"));
  const auto& expected = golden.at("kinds").at(GetParam());
  for (size_t line = 0; line < expected.size(); ++line) {
    const std::string text = golden.at("lines")[line];
    const std::vector<TextSpan> found = tokenizer.spans(text);
    EXPECT_EQ(found.size(), tokenizer.encode(text, false).size());
    EXPECT_EQ(nlohmann::json(in_characters(text, found)), expected[line]) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Spans, ::testing::ValuesIn(kTokenizerKinds),
                         [](const auto& instance) { return std::string(instance.param); });

TEST(SpansOfAnEmptyText, AreNone) { EXPECT_TRUE(golden_tokenizer("gpt2").spans("").empty()); }

}  // namespace
}  // namespace heed::text
