#include "heed/serve/translation/language_names.h"

#include <gtest/gtest.h>

namespace heed::serve {
namespace {

TEST(LanguageNames, AreEnglish) {
  EXPECT_EQ(name_of_language("zh-Hant"), "Chinese (traditional)");
  EXPECT_EQ(name_of_language("zu"), "Zulu");
  EXPECT_EQ(name_of_language("aa"), "Afar");
  EXPECT_EQ(name_of_language("ak"), "Akan");
  EXPECT_EQ(name_of_language("ceb"), "Cebuano");
  EXPECT_EQ(name_of_language("ht"), "Haitian Creole");
  EXPECT_EQ(name_of_language("rw"), "Kinyarwanda");
  EXPECT_EQ(name_of_language("yue"), "Cantonese");
  EXPECT_EQ(name_of_language("xx"), "xx");
}

}  // namespace
}  // namespace heed::serve
