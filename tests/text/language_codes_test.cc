#include "heed/text/language_codes.h"

#include <gtest/gtest.h>

namespace heed::text {
namespace {

TEST(LanguageCodes, HaveTwoLettersWhereTheLanguageHas) {
  EXPECT_EQ(short_language("en"), "en");
  EXPECT_EQ(short_language("en_XX"), "en");
  EXPECT_EQ(short_language("eng_Latn"), "en");
  EXPECT_EQ(short_language("deu"), "de");
  EXPECT_EQ(short_language("zul_Latn"), "zu");
  EXPECT_EQ(short_language("ace_Arab"), "ace");
}

TEST(LanguageCodes, TellTheScriptsOfChineseApart) {
  EXPECT_EQ(short_language("zho_Hans"), "zh");
  EXPECT_EQ(short_language("zho_Hant"), "zh-Hant");
  EXPECT_EQ(short_language("zh_CN"), "zh");
}

TEST(LanguageCodes, AreFoundByTheirShortForm) {
  const std::vector<std::string> codes{"eng_Latn", "deu_Latn", "zho_Hant", "zho_Hans"};
  EXPECT_EQ(code_of_language(codes, "de"), "deu_Latn");
  EXPECT_EQ(code_of_language(codes, "zh"), "zho_Hans");
  EXPECT_EQ(code_of_language(codes, "zho_Hant"), "zho_Hant");
  EXPECT_EQ(code_of_language(codes, "fr"), "");
}

}  // namespace
}  // namespace heed::text
