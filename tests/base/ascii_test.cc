#include "heed/base/ascii.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Ascii, SplitsTextsAtSeparators) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split_at("a\tb\t\tc", "\t"), (Parts{"a", "b", "", "c"}));
  EXPECT_EQ(split_at("a | b|c", " | "), (Parts{"a", "b|c"}));
  EXPECT_EQ(split_at("a\t", "\t"), (Parts{"a", ""}));
  EXPECT_EQ(split_at("", "\t"), (Parts{""}));
}

TEST(Ascii, KnowsBlankTexts) {
  EXPECT_TRUE(is_blank("") && is_blank(" \t\r\n\f\v"));
  EXPECT_FALSE(is_blank(" a "));
}

}  // namespace
}  // namespace heed
