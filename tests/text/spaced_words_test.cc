#include "heed/text/spaced_words.h"

#include <gtest/gtest.h>

namespace heed::text {
namespace {

TEST(SpacedWords, ReachOverLettersMarksAndNumbers) {
  const std::string_view text = "Noah's 3rd ark";
  std::string between;
  for (size_t i = 0; i <= text.size(); ++i)
    if (is_between_words(text, i)) between += std::to_string(i) + ' ';
  EXPECT_EQ(between, "0 4 5 6 7 10 11 14 ");
  EXPECT_FALSE(is_between_words("e\u0301e", 3));
  EXPECT_FALSE(is_between_words("\u0430\u0431", 2));
}

TEST(SpacedWords, AreNotThoseOfScriptsWithoutSpaces) {
  EXPECT_TRUE(is_between_words("\u65b9\u821f", 3));  // Chinese
  EXPECT_TRUE(is_between_words("\u306f\u3053", 3));  // Japanese
  EXPECT_TRUE(is_between_words("\u0e40\u0e23", 3));  // Thai
  EXPECT_TRUE(is_between_words("\u65b9x", 3));
  EXPECT_FALSE(is_between_words("\uc544\ub77c", 3));  // Korean
  EXPECT_TRUE(is_between_words("", 0));
}

}  // namespace
}  // namespace heed::text
