#include "heed/constrain/schema/json_document.h"

#include <gtest/gtest.h>

#include "heed/error.h"

namespace heed::constrain {
namespace {

TEST(JsonDocument, KeepsOrderAndSpelling) {
  JsonDocument document;
  const JsonId root = document.read(R"({"b": [0.10, 36893488147419103232], "a": null})");
  EXPECT_EQ(document[root].members[0].first, "b");
  const JsonId array = document.find(root, "b");
  EXPECT_EQ(document[document[array].items[0]].text, "0.10");
  EXPECT_EQ(document[document[array].items[1]].text, "36893488147419103232");
  EXPECT_EQ(document.find(root, "c"), kNoJson);
}

TEST(JsonDocument, PointersLeadThereAndBack) {
  JsonDocument document;
  const JsonId root = document.read(R"({"a/b": {"~": [1, {"": true}]}})");
  const JsonId value = document.at_pointer(root, "/a~1b/~0/1/");
  ASSERT_NE(value, kNoJson);
  EXPECT_TRUE(document[value].boolean);
  EXPECT_EQ(document.pointer(value), "/a~1b/~0/1/");
  EXPECT_EQ(document.at_pointer(root, "/a~1b/x"), kNoJson);
  EXPECT_EQ(document.at_pointer(root, ""), root);
}

TEST(JsonDocument, EqualValuesHaveOneCanonicalText) {
  JsonDocument document;
  const auto canonical = [&](const char* text) { return document.canonical(document.read(text)); };
  EXPECT_EQ(canonical(R"({"a": 1.0, "b": [2]})"), canonical(R"({"b": [2e0], "a": 1})"));
  EXPECT_NE(canonical("[1, 2]"), canonical("[2, 1]"));
  EXPECT_NE(canonical("\"1\""), canonical("1"));
  EXPECT_NE(canonical(R"(["a", "b"])"), canonical(R"(["a\",1\"b"])"));
}

TEST(JsonDocument, RefusesWhatItCannotHold) {
  JsonDocument document;
  EXPECT_THROW(document.read("{"), Error);
  EXPECT_THROW(document.read(R"({"a": 1, "a": 2})"), Error);
  EXPECT_THROW(document.read(std::string(100'000, '[')), Error);
}

}  // namespace
}  // namespace heed::constrain
