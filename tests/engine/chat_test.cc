#include "heed/base/error.h"
#include "heed/session.h"
#include "tests/engine/small_models.h"

namespace heed {
namespace {

const std::string kTemplate =
    "{% for m in messages %}{{ m.role ~ ': ' ~ m.content ~ '</s>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}";

/// A decoder with a chat template.
class ChatTest : public testing::Test {
 protected:
  ChatTest() {
    engine::write_decoder(folder_.path());
    write_quickly(folder_.path() / "chat_template.jinja", kTemplate);
  }

  TemporaryDirectory folder_;
};
using Chat = ChatTest;

const std::vector<ChatMessage> kMessages{{.role = "user", .content = "the sea"}};

TEST_F(Chat, AnswersAsThePromptIsContinued) {
  const Model model = Model::load(folder_.path());
  ASSERT_TRUE(model.has_chat_template());
  const GenerateOptions options{.max_new_tokens = 6};
  const ChatPrompt prompt = model.chat_prompt(kMessages);
  EXPECT_EQ(prompt.text, "user: the sea</s>assistant: ");
  std::string streamed;
  const ChatResult result =
      model.chat(kMessages, options, {}, [&](const ChatAnswer& part) { streamed += part.content; });
  EXPECT_EQ(result.answer.content, streamed);
  EXPECT_EQ(result.answer.content, result.generation.text);
  EXPECT_EQ(result.generation.tokens,
            model.generate(prompt.tokens, answer_options(prompt, options)).tokens);
}

TEST_F(Chat, ReadsToolCallsAndReasoningOfATemplateOfItsOwn) {
  const Model model = Model::load(folder_.path());
  const ChatOptions options{.tools = R"([{"type": "function", "function": {"name": "add"}}])",
                            .chat_template =
                                "{{ tools|length }}[TOOL_CALLS]{{ messages[0].content }}<think>"
                                "{{ '' if add_generation_prompt else '</think>' }}"};
  const ChatPrompt prompt = model.chat_prompt(kMessages, options);
  EXPECT_EQ(prompt.text, "1[TOOL_CALLS]the sea<think>");
  EXPECT_EQ(prompt.answer.tool_calls, ToolCallFormat::mistral);
  EXPECT_TRUE(prompt.answer.begins_with_reasoning);
}

TEST_F(Chat, SaysWhyThereIsNoTemplate) {
  std::filesystem::remove(folder_.path() / "chat_template.jinja");
  const Model model = Model::load(folder_.path());
  EXPECT_FALSE(model.has_chat_template());
  expect_error([&] { model.chat(kMessages); }, "has no chat template, expected");
  write_quickly(folder_.path() / "chat_template.jinja", "{% if %}");
  const Model broken = Model::load(folder_.path());
  expect_error([&] { broken.require_chat_template(); }, "chat_template.jinja:1:");
  EXPECT_EQ(broken.generate("the", {.max_new_tokens = 2}).tokens,
            model.generate("the", {.max_new_tokens = 2}).tokens);
}

TEST_F(Chat, TokensThatEndAnOutputAreNotPartOfIt) {
  const Model model = Model::load(folder_.path());
  const std::vector<int32_t> tokens = model.generate("the", {.max_new_tokens = 8}).tokens;
  ASSERT_GT(tokens.size(), 2u);
  const auto last = std::ranges::find(tokens, tokens[2]);
  const Generation ended = model.generate("the", {.max_new_tokens = 8, .end_tokens = {tokens[2]}});
  const GenerateOptions longer{.max_new_tokens = 8, .min_new_tokens = 5, .end_tokens = {tokens[2]}};
  EXPECT_GE(model.generate("the", longer).tokens.size(), 5u);
  EXPECT_EQ(ended.tokens, std::vector<int32_t>(tokens.begin(), last));
  EXPECT_EQ(ended.finish_reason, FinishReason::stop);
}

TEST_F(Chat, AnInterruptedStepChangesNothing) {
  const Model model = Model::load(folder_.path());
  const std::string text = "the old ship went out to sea";
  const Generation alone = model.generate(text, {.max_new_tokens = 6});
  int asked = 0, interruptions = 0;
  // It is asked before each of two layers; one of three questions ends a step.
  Session session(model, {.max_prefill_tokens = 4, .interrupted = [&] {
                            const bool now = ++asked % 3 == 0;
                            interruptions += now;
                            return now;
                          }});
  Generation found;
  session.add({.prompt = text, .options = {.max_new_tokens = 6}}, [&](const Delta& delta) {
    if (delta.generation) found = *delta.generation;
    return true;
  });
  while (session.step()) {
  }
  EXPECT_GT(interruptions, 4);
  EXPECT_EQ(found.tokens, alone.tokens);
  EXPECT_EQ(found.text, alone.text);
}

}  // namespace
}  // namespace heed
