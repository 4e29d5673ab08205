// A quarter of a megabyte of one kind of character: other tokenizers overflow their stack on such
// text, or take quadratic time.
#include <gtest/gtest.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "heed/interrupt.h"
#include "heed/text/utf8.h"
#include "tests/base/testing.h"
#include "tests/text/golden_tokenizers.h"

namespace heed::text {
namespace {

constexpr size_t kLong = kSanitized ? 1 << 16 : 1 << 18;

std::string repeated(const std::string& part, size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += part;
  return text;
}

/// Seconds of the processor.
double time_of(const Tokenizer& tokenizer, const std::string& text) {
  const std::clock_t start = std::clock();
  const auto ids = tokenizer.encode(text);
  // A malformed byte is read as U+FFFD, which has three.
  EXPECT_LE(ids.size(), 3 * text.size() + 10);
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

class TokenizerLimits : public testing::TestWithParam<const char*> {};

TEST_P(TokenizerLimits, OneKindOfCharacterTakesLinearTime) {
  const Tokenizer tokenizer = golden_tokenizer(GetParam());
  const std::pair<const char*, const char*> classes[] = {
      {"a", ""},      {" ", ""},          {" ", "x"},          {"\n", ""},           {"7", ""},
      {"\u6F22", ""}, {"\U0001F600", ""}, {"\u0301", ""},      {"\u0301\u0316", ""}, {"\t", "x"},
      {"\xFF", ""},   {"!", " "},         {"\u1100\u1161", ""}};
  for (const auto& [part, end] : classes) {
    const std::string large = repeated(part, kLong) + end;
    const std::string small = repeated(part, kLong / 4) + end;
    // Four times as much; sixteen times if it were quadratic. Short times are noise, and other
    // programs disturb longer ones now and then, but not three times in a row.
    double of_small = 0, of_large = 0;
    for (int attempt = 0; attempt == 0 || (attempt < 3 && of_large >= 9 * of_small + 0.1);
         ++attempt) {
      of_small = time_of(tokenizer, small);
      of_large = time_of(tokenizer, large);
    }
    EXPECT_LT(of_large, 9 * of_small + 0.1)
        << excerpt(nlohmann::json(with_replacements(part))) << ": " << of_small
        << " s for a quarter, " << of_large << " s";
  }
}

TEST_P(TokenizerLimits, ALongTextCanBeInterrupted) {
  const Tokenizer tokenizer = golden_tokenizer(GetParam());
  for (const std::string part : {"The cat, 12 dogs. ", "abcde", "\u6F22"}) {
    const std::string text = repeated(part, kLong / 4);
    int questions = 0;
    const InterruptScope scope([&] { return ++questions > 1; }, std::chrono::milliseconds(0));
    // WordPiece looks up no word as long as this, which takes no time.
    if (std::string_view(GetParam()).find("bert") != std::string_view::npos && part == "abcde")
      continue;
    EXPECT_THROW(tokenizer.encode(text), Interrupted) << part;
    EXPECT_THROW(tokenizer.encode_with_spans(text), Interrupted) << part;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, TokenizerLimits, testing::ValuesIn(kTokenizerKinds),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace
}  // namespace heed::text
