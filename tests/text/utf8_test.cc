#include "heed/text/utf8.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/base/random.h"

namespace heed::text {
namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text.push_back(static_cast<char>(value));
  return text;
}

std::vector<char32_t> values_of(std::string_view text) {
  std::vector<char32_t> values;
  for_each_code_point(
      text, [&](const CodePoint& point, std::string_view) { values.push_back(point.value); });
  return values;
}

std::string encoded(uint32_t value) {
  const auto low = [&](int shift) { return static_cast<int>(0x80 | ((value >> shift) & 0x3F)); };
  const auto lead = [&](uint32_t mark, int shift) {
    return static_cast<int>(mark | value >> shift);
  };
  if (value < 0x80) return bytes({static_cast<int>(value)});
  if (value < 0x800) return bytes({lead(0xC0, 6), low(0)});
  if (value < 0x10000) return bytes({lead(0xE0, 12), low(6), low(0)});
  return bytes({lead(0xF0, 18), low(12), low(6), low(0)});
}

TEST(Utf8, ReadsEveryCodePointAndRefusesSurrogates) {
  for (uint32_t value = 0; value <= 0x10FFFF; ++value) {
    const std::string text = encoded(value);
    const CodePoint point = code_point_at(text, 0);
    const bool surrogate = value >= 0xD800 && value < 0xE000;
    ASSERT_EQ(point.valid, !surrogate) << value;
    ASSERT_EQ(is_valid_utf8(text), !surrogate) << value;
    if (surrogate) continue;
    ASSERT_EQ(point.value, value);
    ASSERT_EQ(point.length, text.size()) << value;
  }
}

TEST(Utf8, NamesThePositionOfTheFirstBadByte) {
  EXPECT_EQ(first_invalid_utf8(""), std::string_view::npos);
  EXPECT_EQ(first_invalid_utf8("plain, und schön, 漢字 🦉"), std::string_view::npos);
  EXPECT_EQ(first_invalid_utf8(bytes({'a', 'b', 0xFF, 'c'})), 2u);
  EXPECT_EQ(first_invalid_utf8("twelve bytes" + bytes({0x80})), 12u);
  EXPECT_EQ(first_invalid_utf8(std::string("a\0b", 3)), std::string_view::npos);
}

TEST(Utf8, RefusesOverlongTruncatedAndTooLargeCodePoints) {
  EXPECT_FALSE(is_valid_utf8(bytes({0xC0, 0x80})));              // overlong U+0000
  EXPECT_FALSE(is_valid_utf8(bytes({0xC1, 0xBF})));              // overlong U+007F
  EXPECT_FALSE(is_valid_utf8(bytes({0xE0, 0x9F, 0xBF})));        // overlong U+07FF
  EXPECT_FALSE(is_valid_utf8(bytes({0xF0, 0x8F, 0xBF, 0xBF})));  // overlong U+FFFF
  EXPECT_FALSE(is_valid_utf8(bytes({0xF4, 0x90, 0x80, 0x80})));  // U+110000
  EXPECT_FALSE(is_valid_utf8(bytes({0xF8, 0x88, 0x80, 0x80})));
  EXPECT_FALSE(is_valid_utf8(bytes({0xC3})));
  EXPECT_FALSE(is_valid_utf8(bytes({0xE2, 0x82})));
  EXPECT_FALSE(is_valid_utf8(bytes({0xF0, 0x9F, 0xA6, 'x'})));
}

TEST(Utf8, VisitsMalformedBytesOneByOne) {
  EXPECT_EQ(values_of(bytes({'a', 0xE2, 0x82, 'b'})),
            (std::vector<char32_t>{'a', 0xFFFD, 0xFFFD, 'b'}));
}

TEST(Utf8, SaysWhereTheBytesOfATextWithReplacementsComeFrom) {
  std::vector<size_t> sources;
  EXPECT_EQ(with_replacements(bytes({'a', 0xE2, 0x82, 0xFF, 'b'}), &sources),
            "a\uFFFD\uFFFD"
            "b");
  EXPECT_EQ(sources, (std::vector<size_t>{0, 1, 1, 1, 3, 3, 3, 4, 5}));
  sources.clear();
  EXPECT_EQ(with_replacements("\u00E9", &sources), "\u00E9");
  EXPECT_EQ(sources, (std::vector<size_t>{0, 1, 2}));
}

TEST(Utf8, VisitsEachByteOfRandomBytesOnce) {
  const CounterRandom random(1);
  for (uint64_t round = 0; round < 2000; ++round) {
    std::string noise;
    for (uint64_t i = 0; i < round % 40; ++i)
      noise.push_back(static_cast<char>(random.bits(round * 64 + i) >> 7));
    std::string visited;
    bool valid = true;
    for_each_code_point(noise, [&](const CodePoint& point, std::string_view part) {
      visited += part;
      valid = valid && point.valid;
    });
    ASSERT_EQ(visited, noise);
    ASSERT_EQ(is_valid_utf8(noise), valid);
  }
}

}  // namespace
}  // namespace heed::text
