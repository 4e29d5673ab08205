#include "heed/serve/translation/translated_files.h"

#include <gtest/gtest.h>

namespace heed::serve {
namespace {

using std::chrono::minutes;

TEST(TranslatedFiles, AreFoundByTheirKeyForAnHour) {
  TranslatedFiles files;
  const TranslatedFiles::Clock::time_point now{};
  const std::string a = files.add("a.txt", "A", now), b = files.add("a.txt", "B", now);
  EXPECT_NE(a, b);
  EXPECT_TRUE(a.ends_with(".a.txt"));
  ASSERT_TRUE(files.find(a, now + minutes(59)));
  EXPECT_EQ(*files.find(b, now + minutes(59)), "B");
  EXPECT_FALSE(files.find("a.txt", now));
  EXPECT_FALSE(files.find(a, now + minutes(60)));
}

TEST(TranslatedFiles, TheOldestGoWhereMemoryIsFull) {
  TranslatedFiles files;
  const TranslatedFiles::Clock::time_point now{};
  const std::string half(TranslatedFiles::kMaxBytes / 2, 'x');
  const std::string a = files.add("a", half, now), b = files.add("b", half, now);
  EXPECT_TRUE(files.find(a, now));
  const std::string c = files.add("c", "x", now);
  EXPECT_FALSE(files.find(a, now));
  EXPECT_TRUE(files.find(b, now));
  EXPECT_TRUE(files.find(c, now));
}

}  // namespace
}  // namespace heed::serve
