#include "heed/base/parse_number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace heed {
namespace {

TEST(ParseNumber, ReadsAWholeTextOrNothing) {
  EXPECT_EQ(parse_number<int64_t>("-12"), -12);
  EXPECT_EQ(parse_number<double>("1.5e3"), 1500);
  for (const char* text : {"", " 1", "1 ", "1a", "a", "0x1"})
    EXPECT_FALSE(parse_number<int64_t>(text)) << text;
}

TEST(ParseNumber, RefusesWhatDoesNotFit) {
  EXPECT_EQ(parse_number<uint8_t>("255"), 255);
  EXPECT_FALSE(parse_number<uint8_t>("256"));
  EXPECT_FALSE(parse_number<uint8_t>("-1"));
}

TEST(ParseNumber, ReadsHexadecimalDigits) {
  EXPECT_EQ(parse_hexadecimal<uint64_t>("00ff"), 255u);
  EXPECT_FALSE(parse_hexadecimal<uint64_t>("0xff"));
  EXPECT_FALSE(parse_hexadecimal<uint64_t>(""));
}

}  // namespace
}  // namespace heed
