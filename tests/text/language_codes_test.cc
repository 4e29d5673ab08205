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
  EXPECT_EQ(short_language("hat_Latn"), "ht");
  EXPECT_EQ(short_language("kin_Latn"), "rw");
  EXPECT_EQ(short_language("aka_Latn"), "ak");
  EXPECT_EQ(short_language("ace_Arab"), "ace");
  EXPECT_EQ(short_language("ceb_Latn"), "ceb");
  EXPECT_EQ(short_language("yue_Hant"), "yue");
}

TEST(LanguageCodes, AreThoseOfTheMacrolanguageForOneOfItsLanguages) {
  EXPECT_EQ(short_language("quy_Latn"), "qu");
  EXPECT_EQ(short_language("gaz_Latn"), "om");
  EXPECT_EQ(short_language("kmr_Latn"), "ku");
  EXPECT_EQ(short_language("ckb_Arab"), "ckb");
  EXPECT_EQ(short_language("azj_Latn"), "az");
  EXPECT_EQ(short_language("azb_Arab"), "azb");
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

TEST(LanguageCodes, AreFoundByThreeLettersToo) {
  const std::vector<std::string> codes{"aka_Latn", "ckb_Arab", "hat_Latn", "kmr_Latn", "zho_Hans"};
  EXPECT_EQ(code_of_language(codes, "ht"), "hat_Latn");
  EXPECT_EQ(code_of_language(codes, "hat"), "hat_Latn");
  EXPECT_EQ(code_of_language(codes, "kmr"), "kmr_Latn");
  EXPECT_EQ(code_of_language(codes, "ckb"), "ckb_Arab");
  EXPECT_EQ(code_of_language(codes, "zho"), "zho_Hans");
  EXPECT_EQ(code_of_language({"en", "ht"}, "hat"), "ht");
  EXPECT_EQ(code_of_language(codes, "kin"), "");
}

}  // namespace
}  // namespace heed::text
