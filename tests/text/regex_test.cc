#include "heed/text/regex/regex.h"

#include <gtest/gtest.h>

#include <ctime>

#include "tests/base/testing.h"

namespace heed::text {
namespace {

std::vector<std::string> matches(const std::string& pattern, const std::string& text) {
  std::vector<std::string> found;
  for (const TextSpan span : Regex(pattern, "test").find_all(text))
    found.push_back(text.substr(span.begin, span.end - span.begin));
  return found;
}

using Parts = std::vector<std::string>;

TEST(Regex, TakesTheFirstAlternativeThatFits) {
  EXPECT_EQ(matches("a|ab", "ab"), Parts{"a"});
  EXPECT_EQ(matches("ab|a", "ab a"), (Parts{"ab", "a"}));
  EXPECT_EQ(matches("(?:x|xy)z", "xyz"), Parts{"xyz"});
}

TEST(Regex, RepeatsGreedilyLazilyOrPossessively) {
  EXPECT_EQ(matches("<.+>", "<a><b>"), Parts{"<a><b>"});
  EXPECT_EQ(matches("<.+?>", "<a><b>"), (Parts{"<a>", "<b>"}));
  EXPECT_EQ(matches("<.++>", "<a><b>"), Parts{});
  EXPECT_EQ(matches("a{2}", "aaaaa"), (Parts{"aa", "aa"}));
  EXPECT_EQ(matches("a{,2}b", "aaab"), Parts{"aab"});
  EXPECT_EQ(matches("a{2,}", "a aa aaa"), (Parts{"aa", "aaa"}));
  EXPECT_EQ(matches("(?:ab){1,2}?c", "ababc"), Parts{"ababc"});
  EXPECT_EQ(matches("(?:ab|c)*d", "abcabd"), Parts{"abcabd"});
  EXPECT_EQ(matches("(?>a|ab)c", "abc"), Parts{});
  EXPECT_EQ(matches("a{x}", "a{x}"), Parts{"a{x}"});
}

TEST(Regex, SupportsClasses) {
  EXPECT_EQ(matches("[^a-c]", "abcd"), Parts{"d"});
  EXPECT_EQ(matches("[a-z&&[^aeiou]]+", "education"), (Parts{"d", "c", "t", "n"}));
  EXPECT_EQ(matches("[]a]+", "a]b"), Parts{"a]"});
  EXPECT_EQ(matches("[a\\-z]+", "a-z"), Parts{"a-z"});
  EXPECT_EQ(matches("\\p{Lu}\\p{Ll}+", "Öl und Äpfel"), (Parts{"Öl", "Äpfel"}));
  EXPECT_EQ(matches("\\P{L}", "a1"), Parts{"1"});
  EXPECT_EQ(matches("\\p{^L}", "a1"), Parts{"1"});
  EXPECT_EQ(matches("\\p{Han}+", "漢字かな"), Parts{"漢字"});
  EXPECT_EQ(matches("\\x{1F600}|\\u00e9|\\x41", "A é 😀"), (Parts{"A", "é", "😀"}));
  EXPECT_EQ(matches("\\h+", "xyzaf09"), Parts{"af09"});
}

TEST(Regex, IgnoresCaseOnRequest) {
  EXPECT_EQ(matches("(?i:'s)", "'s 'S 'ſ"), (Parts{"'s", "'S", "'ſ"}));
  EXPECT_EQ(matches("(?i)ä[B-C]", "ÄbÄd"), Parts{"Äb"});
  EXPECT_EQ(matches("(?i:a)b", "Ab AB"), Parts{"Ab"});
}

TEST(Regex, LooksAround) {
  EXPECT_EQ(matches("\\s+(?!\\S)", "a   b  "), (Parts{"  ", "  "}));
  EXPECT_EQ(matches("a(?=b)", "ab ac"), Parts{"a"});
  EXPECT_EQ(matches("(?<=a|bc)x", "ax bcx cx"), (Parts{"x", "x"}));
  EXPECT_EQ(matches("(?<!a)x", "ax x"), Parts{"x"});
}

TEST(Regex, FindsTheEndsOfLinesAndWords) {
  // White space takes the line end too, and $ holds after it only at the end of the text.
  EXPECT_EQ(matches("\\s+$", "a  \nb  "), (Parts{"  ", "  "}));
  EXPECT_EQ(matches("^.", "a\nb\n"), (Parts{"a", "b"}));
  EXPECT_EQ(matches("\\b\\w", "ab cd"), (Parts{"a", "c"}));
  EXPECT_EQ(matches("\\A.|.\\z", "abc"), (Parts{"a", "c"}));
}

TEST(Regex, FindsOneEmptyMatchPerPosition) {
  EXPECT_EQ(Regex("x*", "test").find_all("axb").size(), 3u);
  EXPECT_EQ(Regex("", "test").find_all("ab").size(), 3u);
}

TEST(Regex, TakesLinearTimeWhereOthersDoNot) {
  const std::clock_t start = std::clock();
  const std::string spaces(200000, ' '), letters(200000, 'a');
  EXPECT_TRUE(Regex("\\s+$", "test").find_all(spaces + "x").empty());
  EXPECT_TRUE(Regex("(?:a*)b", "test").find_all(letters).empty());
  EXPECT_TRUE(Regex("(?:a|aa)+b", "test").find_all(letters).empty());
  EXPECT_TRUE(Regex("a+a+a+b", "test").find_all(letters).empty());
  EXPECT_TRUE(Regex("\\s*\\n|\\s+y", "test").find_all(spaces + "x").empty());
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, kSanitized ? 30 : 5);
}

TEST(Regex, RefusesBrokenAndUnsupportedPatterns) {
  const auto refused = [](const std::string& pattern, const std::string& part) {
    expect_error([&] { Regex(pattern, "file.json"); }, part);
    expect_error([&] { Regex(pattern, "file.json"); }, "file.json: ");
  };
  refused("(a", "a group without a closing )");
  refused("a)", "an unmatched )");
  refused("[a", "a class without a closing ]");
  refused("*a", "a quantifier with nothing to repeat");
  refused("(a)\\1", "the unsupported escape \\1");
  refused("\\p{Klingon}", "Klingon");
  refused("(?:a?)*", "a repetition of a group that can be empty");
  refused("(?<=a+)b", "a look-behind of variable length");
  refused("a{3,2}", "maximum is below its minimum");
  refused("(?:(?:a{999}b){999}c){999}", "too large");
  refused(std::string(500, '(') + std::string(500, ')'), "nested too deeply");
  refused("[z-a]", "a range that ends before it begins");
  refused("\xff", "not valid UTF-8");
  refused("a\\", "an unexpected end");
}

}  // namespace
}  // namespace heed::text
