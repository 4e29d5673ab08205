// Control tokens in the untrusted parts of a text.
#include <gtest/gtest.h>

#include <algorithm>

#include "heed/text/utf8.h"
#include "tests/base/testing.h"
#include "tests/text/golden_tokenizers.h"
#include "tests/text/tokenizer_lines.h"

namespace heed::text {
namespace {

std::unordered_set<int32_t> special_tokens(const Tokenizer& tokenizer) {
  std::unordered_set<int32_t> special;
  for (const int32_t id : tokenizer.added_tokens())
    if (tokenizer.is_special(id) && id != tokenizer.special_tokens().unk) special.insert(id);
  return special;
}

class Untrusted : public testing::TestWithParam<const char*> {};

TEST_P(Untrusted, TextIsTokenisedAsUsualWhereItHasNoControlTokens) {
  const Tokenizer tokenizer = golden_tokenizer(GetParam());
  const auto special = special_tokens(tokenizer);
  const TokenizerLines lines(kGoldenTokenizers);
  int compared = 0;
  for (uint64_t number = 0; number < 300; ++number) {
    const std::string line = lines.line(number);
    const std::vector<int32_t> expected = tokenizer.encode(line, false);
    if (!is_valid_utf8(line) ||
        std::ranges::any_of(expected, [&](int32_t id) { return special.contains(id); }))
      continue;
    const TextSpan spans[] = {{line.size() / 3, line.size() / 2}, {line.size() / 2, line.size()}};
    EXPECT_EQ(tokenizer.encode(line, UntrustedParts{spans, special}), expected) << line;
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

TEST_P(Untrusted, ControlTokensAreText) {
  nlohmann::json file =
      parse_json(read_file(kGoldenTokenizers / (std::string(GetParam()) + ".json")), GetParam());
  for (const bool normalized : {false, true}) {
    for (nlohmann::json& token : file["added_tokens"]) token["normalized"] = normalized;
    const Tokenizer tokenizer = Tokenizer::from_json(file, GetParam());
    const auto special = special_tokens(tokenizer);
    for (const int32_t id : special) {
      const std::string& piece = tokenizer.piece(id);
      const std::string text = piece + " a " + piece + " b " + piece;
      const std::vector<int32_t> usual = tokenizer.encode(text, false);
      EXPECT_EQ(std::ranges::count(usual, id), 3) << piece;
      const size_t second = piece.size() + 3;
      const TextSpan inside[] = {{second + 1, second + 2}};
      const auto partly = tokenizer.encode(text, UntrustedParts{inside, special});
      EXPECT_EQ(std::ranges::count(partly, id), 2) << piece;
      const TextSpan whole[] = {{second - 1, second + piece.size() + 1}};
      const auto tokens = tokenizer.encode(text, UntrustedParts{whole, special});
      EXPECT_EQ(std::ranges::count(tokens, id), 2) << piece;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tokenizer, Untrusted, testing::ValuesIn(kTokenizerKinds),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace
}  // namespace heed::text
