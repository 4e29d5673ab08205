// Configurations of up to 1 MB that try to crash, hang or exhaust memory.
#include <gtest/gtest.h>

#include "heed/train/config/config.h"
#include "heed/train/config/toml_keys.h"
#include "tests/base/cost.h"

namespace heed::train {
namespace {

std::string refusal(const std::string& text) {
  return expect_cheap([&] {
    TrainConfig config;
    read_toml(config, text, "run.toml");
  });
}

TEST(TomlCost, KeysOfManyParts) {
  const std::string key = "a" + repeated(".a", kHostileBytes / 2);
  EXPECT_EQ(refusal(key + " = 1\n"), "run.toml: a key has more than 32 parts");
  EXPECT_EQ(refusal("[" + key + "]\n"), "run.toml: a key has more than 32 parts");
  EXPECT_EQ(refusal("a = {" + key + " = 1}\n"), "run.toml: a key has more than 32 parts");
  EXPECT_EQ(refusal("\"a\"" + repeated(" . 'a'", 100000) + " = 1\n"),
            "run.toml: a key has more than 32 parts");
}

TEST(TomlCost, DotsOutsideOfKeysAreNotCounted) {
  const std::string dots(1000, '.');
  const auto accept = [](const std::string& text) {
    EXPECT_NO_THROW(check_toml_keys(text, "run.toml")) << text.substr(0, 60);
  };
  accept("[data]\nsource = \"" + dots + "\\\"" + dots + "\" # " + dots);
  accept("source = '" + dots + "\\'\ntarget = '''\n" + dots + "'" + dots + "'''");
  accept("source = \"\"\"\n" + dots + "\\\"\"\"" + dots + "\"\"\"");
  accept("sizes = [" + repeated("1.5,", 1000) + "]");
  accept(repeated("model.d_model = 1.5\n", 1000));
}

TEST(TomlCost, OtherNesting) {
  EXPECT_NE(refusal("a = " + std::string(kHostileBytes, '[')), "");
  EXPECT_NE(refusal("a = " + repeated("{a=", kHostileBytes / 3)), "");
  EXPECT_NE(refusal(repeated("[[a]]\n", kHostileBytes / 6)), "");
}

TEST(TomlCost, LongKeysAndValues) {
  const std::string x(kHostileBytes, 'x');
  EXPECT_NE(refusal(x + " = 1\n"), "");
  EXPECT_NE(refusal("model." + x + " = 1\n"), "");
  EXPECT_NE(refusal("[model]\nd_model = \"" + x + "\"\n"), "");
  EXPECT_NE(refusal("[model]\nd_model = [" + repeated("1,", kHostileBytes / 2) + "]\n"), "");
  EXPECT_NE(refusal("[model]\nd_model = " + std::string(kHostileBytes, '9') + "\n"), "");
  std::string keys = "[model]\n";
  for (int i = 0; i < 80000; ++i) keys += fmt::format("k{} = 1\n", i);
  EXPECT_NE(refusal(keys), "");
}

TEST(TomlCost, MessagesAreEscaped) {
  EXPECT_NE(refusal("\"\\u001b[2J\" = 1\n"), "");
  EXPECT_NE(refusal("model.\"\\n\" = 1\n"), "");
  EXPECT_NE(refusal("model.d_model = \"\\u001b[2J\\n\"\n"), "");
  EXPECT_NE(refusal("model.d_model = {a = \"\\n\"}\n"), "");
}

}  // namespace
}  // namespace heed::train
