#include "heed/text/fill_in_middle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/base/testing.h"
#include "tests/text/golden_tokenizers.h"

namespace heed::text {
namespace {

/// A golden tokenizer with further special tokens.
Tokenizer with_tokens(const std::string& kind, const std::vector<std::string>& contents) {
  nlohmann::json whole =
      parse_json(read_file(kGoldenTokenizers / (kind + ".json")), kind + ".json");
  int64_t id = 0;
  for (const auto& [piece, number] : whole["model"]["vocab"].items())
    id = std::max(id, number.get<int64_t>());
  for (const std::string& content : contents) {
    nlohmann::json token = whole["added_tokens"][0];
    token["id"] = ++id;
    token["content"] = content;
    token["special"] = true;
    whole["added_tokens"].push_back(std::move(token));
  }
  return Tokenizer::from_json(whole, kind + ".json");
}

std::string pieces_of(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  std::string text;
  for (const int32_t id : ids) text += tokenizer.piece(id);
  return text;
}

TEST(FillInMiddle, KnowsTheTokensOfModelsOfCode) {
  const std::vector<std::vector<std::string>> families{
      {"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"},
      {"<fim_prefix>", "<fim_suffix>", "<fim_middle>"},
      {"▁<PRE>", "▁<SUF>", "▁<MID>"},
      {"<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"}};
  for (const auto& family : families) {
    const Tokenizer tokenizer = with_tokens("qwen2", family);
    const FillInMiddleTokens& tokens = tokenizer.fill_in_middle();
    ASSERT_TRUE(tokens.prefix && tokens.suffix && tokens.middle) << family[0];
    EXPECT_EQ(tokenizer.piece(*tokens.prefix), family[0]);
    EXPECT_EQ(tokenizer.piece(*tokens.suffix), family[1]);
    EXPECT_EQ(tokenizer.piece(*tokens.middle), family[2]);
    std::vector<int32_t> expected{*tokens.prefix};
    for (const int32_t id : tokenizer.encode("def a(", false)) expected.push_back(id);
    expected.push_back(*tokens.suffix);
    for (const int32_t id : tokenizer.encode(" + 1)\n", false)) expected.push_back(id);
    expected.push_back(*tokens.middle);
    for (const int32_t id : tokenizer.encode("b", false)) expected.push_back(id);
    EXPECT_EQ(fill_in_middle_prompt(tokenizer, {"def a(", " + 1)\n", "b"}), expected);
  }
}

TEST(FillInMiddle, SaysWhichTokensAreMissing) {
  expect_error(
      [] {
        fill_in_middle_prompt(golden_tokenizer("qwen2"), {"a", "b"});
      },
      "no tokens for filling in the middle");
  const Tokenizer incomplete = with_tokens("qwen2", {"<|fim_prefix|>", "<|fim_suffix|>"});
  EXPECT_FALSE(incomplete.fill_in_middle().prefix);
  expect_error([&] { fill_in_middle_prompt(incomplete, {"a", "b"}); }, "<|fim_middle|>");
  const Tokenizer alone =
      with_tokens("qwen2", {"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"});
  expect_error(
      [&] {
        fill_in_middle_prompt(alone, {.prefix = "a", .suffix = "b", .files = {{"c.py", "d"}}});
      },
      "<|file_sep|>");
}

/// As Meta's code has it: the text before the gap begins with SentencePiece's space, the text after
/// it does not.
TEST(FillInMiddle, PutsNoSpaceBeforeTheSuffixOfCodeLlama) {
  const Tokenizer tokenizer = with_tokens("llama2", {"▁<PRE>", "▁<SUF>", "▁<MID>"});
  for (const char* suffix : {"return the sea", "  the", "\nthe ship", ""}) {
    const std::vector<int32_t> prompt = fill_in_middle_prompt(tokenizer, {"the old", suffix});
    EXPECT_EQ(prompt.front(), *tokenizer.special_tokens().bos);
    std::string expected = pieces_of(tokenizer, tokenizer.encode(std::string("x") + suffix, false));
    expected = expected.substr(std::string("▁x").size());
    EXPECT_EQ(pieces_of(tokenizer, prompt), "<s>▁<PRE>▁the▁old▁<SUF>" + expected + "▁<MID>");
  }
}

TEST(FillInMiddle, ReadsSpecialTokensWithinTextsAsText) {
  const Tokenizer tokenizer =
      with_tokens("qwen2", {"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"});
  const std::vector<int32_t> prompt =
      fill_in_middle_prompt(tokenizer, {"a<|fim_middle|>", "<|endoftext|>b"});
  EXPECT_EQ(std::ranges::count(prompt, *tokenizer.fill_in_middle().middle), 1);
  EXPECT_EQ(std::ranges::count(prompt, *tokenizer.id_of("<|endoftext|>")), 0);
  EXPECT_EQ(tokenizer.decode(prompt), "a<|fim_middle|><|endoftext|>b");
}

TEST(FillInMiddle, PutsOtherFilesBeforeTheText) {
  const Tokenizer tokenizer = with_tokens(
      "qwen2",
      {"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|repo_name|>", "<|file_sep|>"});
  const std::vector<int32_t> prompt =
      fill_in_middle_prompt(tokenizer, {.prefix = "a", .suffix = "b", .files = {{"c.py", "d\n"}}});
  EXPECT_EQ(tokenizer.decode(prompt, false),
            "<|repo_name|>myproject\n<|file_sep|>c.py\nd\n<|file_sep|>filename\n"
            "<|fim_prefix|>a<|fim_suffix|>b<|fim_middle|>");
}

}  // namespace
}  // namespace heed::text
