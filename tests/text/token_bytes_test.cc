#include <gtest/gtest.h>

#include "heed/text/utf8.h"
#include "tests/base/testing.h"
#include "tests/text/golden_tokenizers.h"
#include "tests/text/tokenizer_lines.h"

namespace heed::text {
namespace {

std::string bytes_of(const Tokenizer& tokenizer, std::span<const int32_t> ids) {
  std::string bytes;
  for (const int32_t id : ids) bytes += tokenizer.token_bytes(id);
  return bytes;
}

/// Decoders drop the space before the first word, and clip's the one after the last.
std::string trimmed(std::string text) {
  while (text.starts_with(' ')) text.erase(0, 1);
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

class TokenBytes : public testing::TestWithParam<const char*> {};

TEST_P(TokenBytes, AreTheDecodedTextOneAfterTheOther) {
  const Tokenizer tokenizer = golden_tokenizer(GetParam());
  const TokenizerLines lines(kGoldenTokenizers);
  for (uint64_t number = 0; number < 1000; ++number) {
    const auto ids = tokenizer.encode(with_replacements(lines.line(number)));
    ASSERT_EQ(trimmed(bytes_of(tokenizer, ids)), trimmed(tokenizer.decode(ids, false)))
        << "line " << number;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, TokenBytes, testing::ValuesIn(kTokenizerKinds),
                         [](const auto& kind) { return std::string(kind.param); });

TEST(TokenBytesOfOne, HaveTheLeadingSpace) {
  for (const auto& [kind, piece] : {std::pair("gpt2", "\u0120the"),
                                    {"llama2", "\u2581the"},
                                    {"gemma2", "\u2581the"},
                                    {"t5", "\u2581the"},
                                    {"xlm_roberta", "\u2581the"},
                                    {"bert_uncased", "the"}}) {
    const Tokenizer tokenizer = golden_tokenizer(kind);
    EXPECT_EQ(tokenizer.token_bytes(tokenizer.id_of(piece).value()), " the") << kind;
  }
}

TEST(TokenBytesOfOne, MayBeAPartOfACodePoint) {
  const Tokenizer fallback = golden_tokenizer("llama2");
  EXPECT_EQ(fallback.token_bytes(fallback.id_of("<0xE2>").value()), "\xE2");
  const Tokenizer byte_level = golden_tokenizer("gpt2");
  EXPECT_EQ(byte_level.token_bytes(byte_level.id_of("\u00E2").value()), "\xE2");
}

TEST(TokenBytesOfOne, AreNoneForAnIdWithoutAPiece) {
  const Tokenizer tokenizer = golden_tokenizer("gpt2");
  EXPECT_EQ(tokenizer.token_bytes(1 << 30), "");
  EXPECT_EQ(tokenizer.token_bytes(-1), "");
}

}  // namespace
}  // namespace heed::text
