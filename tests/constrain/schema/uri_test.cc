#include "heed/constrain/schema/uri.h"

#include <gtest/gtest.h>

namespace heed::constrain {
namespace {

TEST(Uri, ReferencesAreResolvedAsInRfc3986) {
  const std::pair<const char*, const char*> examples[] = {// section 5.4
                                                          {"g:h", "g:h"},
                                                          {"g", "http://a/b/c/g"},
                                                          {"./g", "http://a/b/c/g"},
                                                          {"g/", "http://a/b/c/g/"},
                                                          {"/g", "http://a/g"},
                                                          {"//g", "http://g"},
                                                          {"?y", "http://a/b/c/d;p?y"},
                                                          {"g?y", "http://a/b/c/g?y"},
                                                          {"#s", "http://a/b/c/d;p?q#s"},
                                                          {"", "http://a/b/c/d;p?q"},
                                                          {"..", "http://a/b/"},
                                                          {"../g", "http://a/b/g"},
                                                          {"../../../g", "http://a/g"},
                                                          {"./../g", "http://a/b/g"},
                                                          {"g/./h", "http://a/b/c/g/h"},
                                                          {"g/../h", "http://a/b/c/h"}};
  for (const auto& [reference, uri] : examples) {
    EXPECT_EQ(resolve_uri("http://a/b/c/d;p?q", reference), uri) << reference;
  }
  EXPECT_EQ(resolve_uri("urn:uuid:1", "#/a"), "urn:uuid:1#/a");
  EXPECT_EQ(resolve_uri("", "item.json"), "item.json");
}

TEST(Uri, PercentEncodedBytesAreDecoded) {
  EXPECT_EQ(decode_percent("a%20b%C3%A9"), "a b\xC3\xA9");
  EXPECT_EQ(decode_percent("100%"), "100%");
  EXPECT_EQ(decode_percent("%zz%4"), "%zz%4");
}

}  // namespace
}  // namespace heed::constrain
