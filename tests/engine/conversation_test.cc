#include "heed/conversation.h"

#include "heed/base/error.h"
#include "tests/engine/small_models.h"

namespace heed {
namespace {

/// A decoder with 64 tokens of context and a chat template.
class ConversationTest : public testing::Test {
 protected:
  static std::filesystem::path decoder_in(const std::filesystem::path& folder) {
    engine::write_decoder(folder);
    write_quickly(folder / "chat_template.jinja",
                  "{% for m in messages %}{{ m.role ~ ': ' ~ m.content ~ '</s>' }}{% endfor %}"
                  "{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}");
    return folder;
  }

  static Conversation::Outcome ask(Conversation& conversation, const std::string& text) {
    conversation.messages.push_back({.role = "user", .content = text});
    return conversation.answer([](const ChatAnswer&) {});
  }

  const TemporaryDirectory folder_;
  const Model model_ = Model::load(decoder_in(folder_.path()));
};
using ConversationOf = ConversationTest;

TEST_F(ConversationOf, TwoTurnsComputesNewTokensOnly) {
  Conversation conversation(model_, {.generate = {.max_new_tokens = 3}});
  std::string streamed;
  conversation.messages.push_back({.role = "user", .content = "the sea"});
  conversation.answer([&](const ChatAnswer& part) { streamed += part.content; });
  ASSERT_EQ(conversation.messages.size(), 2u);
  EXPECT_EQ(conversation.messages.back().role, "assistant");
  EXPECT_EQ(conversation.messages.back().content, streamed);
  EXPECT_EQ(conversation.statistics().computed_prompt_tokens,
            conversation.statistics().prompt_tokens);
  ask(conversation, "a ship");
  EXPECT_LT(conversation.statistics().computed_prompt_tokens,
            conversation.statistics().prompt_tokens);
}

TEST_F(ConversationOf, ManyTurnsDropsTheOldestOnesIfAsked) {
  Conversation conversation(
      model_, {.generate = {.max_new_tokens = 3}, .when_full = WhenFull::drop_oldest});
  size_t dropped = 0;
  for (int turn = 0; turn < 8; ++turn) {
    ask(conversation, "the sea");
    dropped += conversation.dropped();
    EXPECT_LE(conversation.statistics().prompt_tokens, conversation.context());
  }
  EXPECT_GT(dropped, 0u);
  EXPECT_EQ(conversation.messages.size() + dropped, 16u);
  EXPECT_EQ(conversation.messages.front().role, "user");
}

TEST_F(ConversationOf, ManyTurnsIsRefusedOtherwise) {
  Conversation conversation(model_, {.generate = {.max_new_tokens = 3}, .context = 20});
  EXPECT_EQ(conversation.context(), 20);
  const auto ask_often = [&] {
    while (true) ask(conversation, "the sea");
  };
  expect_error(ask_often, "and the context 20");
  EXPECT_EQ(conversation.messages.back().role, "user");
}

TEST_F(ConversationOf, OneTurnEndsWhenItIsInterrupted) {
  bool interrupted = false;
  Conversation conversation(model_, {.generate = {.max_new_tokens = 3}},
                            [&] { return interrupted; });
  EXPECT_NE(ask(conversation, "the sea"), Conversation::Outcome::stopped);
  interrupted = true;
  EXPECT_EQ(ask(conversation, "a ship"), Conversation::Outcome::stopped);
  EXPECT_EQ(conversation.messages.back().content, "");
}

}  // namespace
}  // namespace heed
