#include "heed/serve/http/target.h"

#include <gtest/gtest.h>

namespace heed::serve {
namespace {

TEST(Target, HasAPathAndAQuery) {
  std::string path, query;
  ASSERT_TRUE(split_target("/v1/models?a=%20b&c", path, query));
  EXPECT_EQ(path, "/v1/models");
  EXPECT_EQ(query, "a=%20b&c");
  ASSERT_TRUE(split_target("http://example.com/health", path, query));
  EXPECT_EQ(path, "/health");
  EXPECT_EQ(query, "");
  ASSERT_TRUE(split_target("http://example.com", path, query));
  EXPECT_EQ(path, "/");
  ASSERT_TRUE(split_target("/a%2Fb%C3%A9", path, query));
  EXPECT_EQ(path, "/a/b\xc3\xa9");
}

TEST(Target, IsRefusedIfItIsNeither) {
  std::string path, query;
  for (const char* target : {"", "health", "ftp://a/b", "/%", "/%2", "/%zz", "/%+1"})
    EXPECT_FALSE(split_target(target, path, query)) << target;
}

TEST(PercentDecoded, ReadsPlusAsSpaceInForms) {
  EXPECT_EQ(percent_decoded("a+b%2B", true), "a b+");
  EXPECT_EQ(percent_decoded("a+b"), "a+b");
}

}  // namespace
}  // namespace heed::serve
