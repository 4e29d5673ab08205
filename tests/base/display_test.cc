#include "heed/base/display.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(CodePoints, DecodesUtf8AndReplacesInvalidBytes) {
  EXPECT_EQ(code_points("aé€😀"), U"aé€😀");
  EXPECT_EQ(code_points("a\xff"
                        "b"),
            U"a\ufffdb");
  EXPECT_EQ(code_points("\xc3"), U"\ufffd");                      // truncated
  EXPECT_EQ(code_points("\xc0\xaf"), U"\ufffd\ufffd");            // overlong
  EXPECT_EQ(code_points("\xed\xa0\x80"), U"\ufffd\ufffd\ufffd");  // a surrogate
  EXPECT_EQ(code_points("\xf4\x90\x80\x80").size(), 4u);          // beyond Unicode
}

TEST(CodePoints, InvertUtf8) {
  for (const char32_t c : {U'a', U'é', U'€', U'\ud7ff', U'\U0010ffff'})
    EXPECT_EQ(code_points(utf8(c)), std::u32string(1, c));
}

TEST(Printable, ReplacesControlsAndDirectionalOverrides) {
  EXPECT_EQ(printable("a\nb\tc\x1b\u2028\u202e"), "a⏎b⇥c\ufffd⏎\ufffd");
}

TEST(Grouped, SeparatesGroupsOfThreeDigits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(-123), "-123");
  EXPECT_EQ(grouped(1234567), "1,234,567");
}

TEST(Width, CountsWideAndCombiningCharacters) {
  EXPECT_EQ(width_of("abc"), 3);
  EXPECT_EQ(width_of("漢字"), 4);
  EXPECT_EQ(width_of("e\u0301"), 1);
  EXPECT_EQ(cut("abcdef", 4), "abc…");
  EXPECT_EQ(cut("漢字漢", 4), "漢…");
  EXPECT_EQ(cut("abcd", 4), "abcd");
}

}  // namespace
}  // namespace heed
