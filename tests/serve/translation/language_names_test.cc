#include "heed/serve/translation/language_names.h"

#include <gtest/gtest.h>

namespace heed::serve {
namespace {

TEST(LanguageNames, AreEnglish) {
  EXPECT_EQ(name_of_language("zh-Hant"), "Chinese (traditional)");
  EXPECT_EQ(name_of_language("zu"), "Zulu");
  EXPECT_EQ(name_of_language("xx"), "xx");
}

}  // namespace
}  // namespace heed::serve
