#include "heed/base/quote.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace heed {
namespace {

bool is_printable_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

TEST(Quoted, PutsPlainTextBetweenQuotes) {
  EXPECT_EQ(quoted("llama"), "\"llama\"");
  EXPECT_EQ(quoted(""), "\"\"");
}

TEST(Quoted, EscapesControlAndFormatCharacters) {
  EXPECT_EQ(quoted("a\nb\r\x1b[2J\x7f"), R"("a\nb\r\u001b[2J\u007f")");
  EXPECT_EQ(quoted(std::string_view("a\0b", 3)), R"("a\u0000b")");
  EXPECT_EQ(quoted("\xc2\x9b"), R"("\u009b")");            // CSI as one code point
  EXPECT_EQ(quoted("\u202e\u2028"), R"("\u202e\u2028")");  // writing direction, line separator
}

TEST(Quoted, ShowsTheLettersOfAllScripts) {
  EXPECT_EQ(quoted("Mädchen, 世界 😀 e\u0301"), "\"Mädchen, 世界 😀 e\u0301\"");
  EXPECT_EQ(quoted("\u00a0\u200b\ufeff\ue000\ufffd"), R"("\u00a0\u200b\ufeff\ue000\ufffd")");
  EXPECT_EQ(quoted("\U000e0041"), R"("\udb40\udc41")");  // a tag character
}

TEST(Quoted, EscapesItsOwnQuotesAndBackslashes) { EXPECT_EQ(quoted(R"(a"b\n)"), R"("a\"b\\n")"); }

TEST(Quoted, StaysValidWhateverTheBytesAre) {
  EXPECT_EQ(quoted("a\xff"), R"("a\ufffd")");
  for (int byte = 0; byte < 256; ++byte)
    EXPECT_TRUE(is_printable_ascii(quoted(std::string(5, static_cast<char>(byte))))) << byte;
}

TEST(Quoted, CutsLongTextBetweenTwoCharacters) {
  EXPECT_EQ(quoted(std::string(80, 'x')), "\"" + std::string(80, 'x') + "\"");
  EXPECT_EQ(quoted(std::string(81, 'x')), "\"" + std::string(80, 'x') + "\"...");
  // The 80th character would be the first of an escape.
  EXPECT_EQ(quoted(std::string(79, 'x') + "\n"), "\"" + std::string(79, 'x') + "\"...");
  EXPECT_EQ(quoted(std::string(100000, '\x1b')).size(), 13 * 6 + 5u);
  std::string letters;
  for (int i = 0; i < 80; ++i) letters += "世";
  EXPECT_EQ(quoted(letters), "\"" + letters + "\"");
  EXPECT_EQ(quoted(letters + "界"), "\"" + letters + "\"...");
}

TEST(OneLine, LeavesPlainTextAsItIs) {
  EXPECT_EQ(one_line("encoder.layers.0"), "encoder.layers.0");
  EXPECT_EQ(one_line("a\"b\\c"), "a\"b\\c");
  EXPECT_EQ(one_line("Übersetzung \"a\".txt"), "Übersetzung \"a\".txt");
}

TEST(OneLine, EscapesAndCuts) {
  EXPECT_EQ(one_line("a\nb\x1b[2J"), "a\\nb\\u001b[2J");
  EXPECT_EQ(one_line("\xff"), "\\ufffd");
  EXPECT_EQ(one_line(std::string(1000, 'x')), std::string(200, 'x') + "...");
}

TEST(Shown, LeavesTheEscapesOfJson) {
  EXPECT_EQ(shown("[\"a\\nü\u202e\"]", 60), "[\"a\\nü\\u202e\"]");
  EXPECT_EQ(shown("[1,2,3]", 4), "[1,2...");
}

}  // namespace
}  // namespace heed
