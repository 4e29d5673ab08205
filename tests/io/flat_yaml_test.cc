#include "heed/io/flat_yaml.h"

#include <gtest/gtest.h>

#include "heed/error.h"

namespace heed::io {
namespace {

std::string error_of(std::string_view text) {
  try {
    FlatYaml(text, "file.yml");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(FlatYaml, ReadsScalarsAndLists) {
  const FlatYaml yaml(
      "---\n# a comment\nplain: a b:c\nnumber: 12\nempty:\nnone: null\nquoted: 'it''s'\n"
      "brackets: [1, \"a, b\", c]\nblock:\n  - x\n- y\nnext-line:\n  []\n\"key: 1\": 2\r\n",
      "file.yml");
  EXPECT_EQ(yaml.scalar("plain"), "a b:c");
  EXPECT_EQ(yaml.scalar("number"), "12");
  EXPECT_FALSE(yaml.scalar("empty"));
  EXPECT_FALSE(yaml.scalar("none"));
  EXPECT_FALSE(yaml.scalar("absent"));
  EXPECT_EQ(yaml.scalar("quoted"), "it's");
  EXPECT_EQ(yaml.list("brackets"), (std::vector<std::string>{"1", "a, b", "c"}));
  EXPECT_EQ(yaml.list("block"), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(yaml.list("next-line"), std::vector<std::string>());
  EXPECT_EQ(yaml.scalar("key: 1"), "2");
  EXPECT_THROW(yaml.scalar("block"), Error);
  EXPECT_THROW(yaml.list("plain"), Error);
}

TEST(FlatYaml, ReadsTheKeysOfVocabularies) {
  const FlatYaml yaml(
      "</s>: 0\n<unk>: 1\n\",\": 2\n.: 3\n\"\\\"\": 4\n'!': 5\n\u2581the: 6\n\"\\u2581:\": 7\n"
      "\"\\x85\": 8\n\"\\\\\": 9\n''''\x3A 10\n'#': 11\n\"-\": 12\n",
      "vocab.yml");
  const std::vector<std::string> keys{"</s>",    "<unk>",  ",",  ".", "\"", "!", "\u2581the",
                                      "\u2581:", "\u0085", "\\", "'", "#",  "-"};
  for (size_t i = 0; i < keys.size(); ++i)
    EXPECT_EQ(yaml.scalar(keys[i]), std::to_string(i)) << keys[i];
}

TEST(FlatYaml, RefusesTheRestOfYamlByItsLine) {
  EXPECT_EQ(error_of("a: 1\nb: &x 2\n"), "file.yml: line 2: cannot read \"&x 2\"");
  EXPECT_EQ(error_of("a: !!python/object:os.system x"),
            "file.yml: line 1: cannot read \"!!python/object:os.system x\"");
  EXPECT_EQ(error_of("a: 1\na: 2"), "file.yml: line 2: \"a\" occurs twice");
  EXPECT_EQ(error_of("a: [1, 2"), "file.yml: line 1: a list does not end");
  EXPECT_EQ(error_of("no colon"), "file.yml: line 1: expected KEY: VALUE");
  EXPECT_EQ(error_of("- 1"), "file.yml: line 1: expected KEY: VALUE");
  EXPECT_EQ(error_of("a: 1\n- 2"), "file.yml: line 2: an item of no list");
  EXPECT_EQ(error_of("a:\n  b: 1"), "file.yml: line 2: cannot read \"b: 1\"");
  EXPECT_EQ(error_of("a: 1\n  b"), "file.yml: line 2: cannot read \"b\"");
  EXPECT_EQ(error_of("a: \"x"), "file.yml: line 1: cannot read \"\\\"x\"");
  EXPECT_EQ(error_of("a: \"\\q\""), "file.yml: line 1: cannot read \"\\\"\\\\q\\\"\"");
  EXPECT_EQ(error_of("a: \"\\ud800\""), "file.yml: line 1: cannot read \"\\\"\\\\ud800\\\"\"");
  EXPECT_NE(error_of("a: {b: 1}").find("cannot read"), std::string::npos);
}

}  // namespace
}  // namespace heed::io
