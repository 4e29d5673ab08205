#include "heed/hub/model_name.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "tests/base/testing.h"

namespace heed::hub {
namespace {

TEST(ModelName, HasARepositoryARevisionAndAFile) {
  const auto whole = parse_model_name("HuggingFaceTB/SmolLM2-135M-Instruct");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->repository, "HuggingFaceTB/SmolLM2-135M-Instruct");
  EXPECT_EQ(whole->revision, "main");
  EXPECT_EQ(whole->file, "");
  const auto exact = parse_model_name("a/b_c.d@refs/pr/1:Q4_K_M/x-00001-of-00002.gguf");
  ASSERT_TRUE(exact);
  EXPECT_EQ(exact->repository, "a/b_c.d");
  EXPECT_EQ(exact->revision, "refs/pr/1");
  EXPECT_EQ(exact->file, "Q4_K_M/x-00001-of-00002.gguf");
  const auto without_owner = parse_model_name("gpt2@v1:x.gguf");
  ASSERT_TRUE(without_owner);
  EXPECT_EQ(without_owner->repository, "gpt2");
  EXPECT_EQ(without_owner->revision, "v1");
  EXPECT_EQ(without_owner->file, "x.gguf");
  EXPECT_EQ(parse_model_name("opt-1.3b")->repository, "opt-1.3b");
  const auto file = parse_model_name("a/b.gguf:c@d.gguf");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->repository, "a/b.gguf");
  EXPECT_EQ(file->file, "c@d.gguf");
}

TEST(ModelName, IsNothingForOtherPaths) {
  for (const char* text : {"",
                           "model.gguf",
                           "pytorch_model.bin",
                           "serve.toml",
                           ".",
                           "..",
                           "~",
                           "-x",
                           "a b",
                           "a--b",
                           "/a/b",
                           "a/b/c",
                           "a/",
                           "/b",
                           "./b",
                           "../b",
                           "a/..",
                           "a/.b",
                           "~/b",
                           "a/b c",
                           "a/b.gguf",
                           "out/tokenizer.json",
                           "a/v.model",
                           "a/source.spm",
                           "a/x.safetensors",
                           "a--b/c",
                           "a/b\n",
                           "a/\xc3\xa9",
                           "a\\b/c",
                           ":x.gguf",
                           "@x",
                           "http://a/b",
                           "a/-b"})
    EXPECT_FALSE(parse_model_name(text)) << text;
  EXPECT_FALSE(parse_model_name("a/" + std::string(97, 'b')));
}

TEST(ModelName, IsRefusedWhenItLeavesTheRepository) {
  for (const char* text : {"a/b@", "a/b@..", "a/b@../x", "a/b@/x", "a/b@x/../y", "a/b@x//y",
                           "a/b@x\ny", "a/b@x\\y", "a/b@.", "a/b@x y"})
    expect_error([&] { parse_model_name(text); }, "expected a branch, tag or commit");
  for (const char* text : {"a/b:", "a/b:x", "a/b:x.bin", "a/b:../x.gguf", "a/b:/x.gguf",
                           "a/b:x/../../y.gguf", "a/b:\x1b[2J.gguf", "a/b@main:"})
    expect_error([&] { parse_model_name(text); }, "expected a .gguf file of the repository");
}

}  // namespace
}  // namespace heed::hub
