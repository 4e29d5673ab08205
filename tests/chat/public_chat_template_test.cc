// heed::ChatTemplate, as programs use it without a model.
#include "heed/chat_template.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/base/testing.h"
#include "tests/io/gguf_bytes.h"
#include "tests/text/golden_tokenizers.h"

namespace heed {
namespace {

const std::string kTemplate =
    "{{ bos_token }}{% for m in messages %}{{ '<|im_start|>' ~ m.role ~ ' ' ~ m.content ~ "
    "'<|im_end|>' }}{% endfor %}";
const std::vector<ChatMessage> kHello{{.role = "user", .content = "Hello <|im_end|>"}};
const std::string kText = "<|im_start|><|im_start|>user Hello <|im_end|><|im_end|>";

/// A model directory without weights.
class ModelFiles : public testing::Test {
 protected:
  ModelFiles() {
    std::filesystem::copy_file(text::kGoldenTokenizers / "qwen2.json", folder_ / "tokenizer.json");
    const nlohmann::json config = {{"bos_token", "<|im_start|>"}, {"chat_template", kTemplate}};
    write_quickly(folder_ / "tokenizer_config.json", config.dump());
  }

  TemporaryDirectory folder_;
};

TEST_F(ModelFiles, GiveTheSamePromptReadAsDirectoryAndAsConfiguration) {
  const auto whole = ChatTemplate::load(folder_.path());
  const auto config = ChatTemplate::load(folder_ / "tokenizer_config.json");
  const ChatPrompt prompt = whole.prompt(kHello);
  EXPECT_EQ(prompt.text, kText);
  EXPECT_EQ(config.prompt(kHello).text, kText);
  EXPECT_EQ(config.prompt(kHello).tokens, prompt.tokens);
  const Tokenizer& tokenizer = whole.tokenizer();
  EXPECT_EQ(tokenizer.decode(prompt.tokens, false), kText);
  // The end of a message inside a message is text.
  EXPECT_EQ(std::ranges::count(prompt.tokens, tokenizer.token_id("<|im_end|>").value()), 1);
  EXPECT_EQ(prompt.end_tokens, std::vector<int32_t>{tokenizer.token_id("<|im_end|>").value()});
}

TEST_F(ModelFiles, GiveWayToATemplateOfTheCaller) {
  const auto tokenizer = Tokenizer::load(folder_.path());
  const auto parsed = ChatTemplate::parse("{{ messages[0].content | upper }}", tokenizer);
  EXPECT_EQ(parsed.prompt({{.role = "user", .content = "abc"}}).text, "ABC");
  EXPECT_EQ(parsed.prompt(kHello, {.chat_template = kTemplate}).text,
            ChatTemplate::load(folder_.path()).prompt(kHello).text);
  write_quickly(folder_ / "own.jinja", "{{ messages | length }}");
  EXPECT_EQ(ChatTemplate::load(folder_ / "own.jinja").prompt(kHello).text, "1");
  EXPECT_EQ(ChatTemplate::load(folder_ / "own.jinja", tokenizer).prompt(kHello).text, "1");
}

TEST(GgufFiles, GiveTheirTemplateAndTokenizer) {
  using io::GgufBytes;
  using io::GgufType;
  const auto list = [](const std::vector<std::string>& texts) {
    std::string bytes = GgufBytes::number(static_cast<uint32_t>(GgufType::string)) +
                        GgufBytes::number(uint64_t{texts.size()});
    for (const std::string& text : texts) bytes += GgufBytes::text(text);
    return bytes;
  };
  GgufBytes bytes;
  bytes.value("tokenizer.ggml.model", GgufType::string, GgufBytes::text("gpt2"))
      .value("tokenizer.ggml.pre", GgufType::string, GgufBytes::text("gpt-2"))
      .value("tokenizer.ggml.tokens", GgufType::array, list({"a", "b", "ab"}))
      .value("tokenizer.ggml.merges", GgufType::array, list({"a b"}))
      .value("tokenizer.chat_template", GgufType::string,
             GgufBytes::text("{{ messages[0].content }}b"));
  const TemporaryDirectory folder;
  write_quickly(folder / "model.gguf", bytes.bytes());
  const ChatPrompt prompt =
      ChatTemplate::load(folder / "model.gguf").prompt({{.role = "user", .content = "aba"}});
  EXPECT_EQ(prompt.text, "abab");
  EXPECT_EQ(prompt.tokens, (std::vector<int32_t>{2, 2}));
}

TEST_F(ModelFiles, SayWhatIsMissing) {
  write_quickly(folder_ / "tokenizer_config.json", "{}");
  expect_error([&] { ChatTemplate::load(folder_.path()); }, "has no chat template, expected");
  const auto tokenizer = Tokenizer::load(folder_.path());
  expect_error([&] { ChatTemplate::parse("{% broken", tokenizer); }, "the chat template:1: ");
  expect_error([&] { ChatTemplate::parse("a", tokenizer).prompt({}); }, "there are no messages");
  std::filesystem::remove(folder_ / "tokenizer.json");
  expect_error([&] { ChatTemplate::load(folder_.path()); }, "has no tokenizer, expected");
}

}  // namespace
}  // namespace heed
