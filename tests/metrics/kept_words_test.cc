#include "heed/metrics/kept_words.h"

#include <gtest/gtest.h>

#include <string>

namespace heed::metrics {
namespace {

/// The words of a translation, those that are kept with a + before them.
std::string marked(const std::string& translation, const std::string& reference) {
  const KeptWords found = kept_words(translation, reference);
  std::string marks;
  size_t i = 0;
  for (const WordRange& word : word_ranges(translation)) {
    marks += (marks.empty() ? "" : " ") + std::string(found.kept.at(i++) ? "+" : "-") +
             translation.substr(word.begin, word.end - word.begin);
  }
  EXPECT_EQ(found.kept.size(), i);
  return marks;
}

TEST(KeptWords, AreThoseOfTheEditAlignment) {
  EXPECT_EQ(marked("a b c", "a b c"), "+a +b +c");
  EXPECT_EQ(marked("a x c", "a b c"), "+a -x +c");
  EXPECT_EQ(marked("a x b c", "a b c"), "+a -x +b +c");
  EXPECT_EQ(marked("a c", "a b c"), "+a +c");
  // Without shifts: a block that stands elsewhere is deleted and inserted.
  EXPECT_EQ(marked("c d a b e", "a b e c d"), "-c -d +a +b +e");
  EXPECT_EQ(marked("a", ""), "-a");
  EXPECT_EQ(marked("", "a"), "");
}

TEST(KeptWords, DoNotCountCaseAndPunctuationAroundThem) {
  EXPECT_EQ(marked("\"Let there be light,\" he said", "let there be Light: He said."),
            "+\"Let +there +be +light,\" +he +said");
  EXPECT_EQ(marked("don't", "dont"), "-don't");
  EXPECT_EQ(marked("— yes", "! yes"), "-— +yes");
  EXPECT_EQ(marked("ÉTÉ", "été"), "+ÉTÉ");
}

TEST(KeptWords, AreCharactersWhereScriptsHaveNoSpaces) {
  EXPECT_EQ(marked("我爱北京。", "我在北京。"), "+我 -爱 +北 +京。");
  EXPECT_EQ(marked("ロンドン is big", "ロンドン is big").size(),
            std::string("+ロ +ン +ド +ン +is +big").size());
  EXPECT_EQ(marked("用AI写", "用AI写"), "+用 +AI +写");
  // Marks stay with their letters.
  EXPECT_EQ(marked("ที่", "ที่"), "+ที่");
  EXPECT_EQ(marked("안녕 하세요", "안녕 하세요"), "+안녕 +하세요");
}

TEST(KeptWords, HaveAShareOfTheLongerText) {
  EXPECT_DOUBLE_EQ(kept_words("a b", "a b c d").share(), 0.5);
  EXPECT_DOUBLE_EQ(kept_words("a b c d", "a b").share(), 0.5);
  EXPECT_DOUBLE_EQ(kept_words("", "").share(), 1);
  EXPECT_DOUBLE_EQ(kept_words("", "a").share(), 0);
}

}  // namespace
}  // namespace heed::metrics
