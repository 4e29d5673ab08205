#include "heed/chat/messages.h"

#include <nlohmann/json.hpp>

#include "heed/base/json.h"
#include "tests/base/fuzz.h"
#include "tests/base/testing.h"

namespace heed {
namespace {

const std::string kMessages =
    R"([{"role":"system","content":"Be brief."},)"
    R"({"role":"assistant","content":"","reasoning_content":"Hm.","tool_calls":[{"id":"abc",)"
    R"("type":"function","function":{"name":"add","arguments":"{\"b\":1,\"a\":2}"}}]},)"
    R"({"role":"tool","content":"3","tool_call_id":"abc","name":"add"}])";

TEST(Messages, AreWrittenAsTheyWereRead) {
  EXPECT_EQ(write_chat_messages(read_chat_messages(kMessages)), kMessages);
  EXPECT_EQ(write_chat_messages(read_chat_messages("{\"messages\":" + kMessages + "}")), kMessages);
}

TEST(Messages, JoinPartsOfText) {
  const auto messages = read_chat_messages(
      R"([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
          {"role": "assistant", "content": null, "thinking": "t"}])");
  EXPECT_EQ(messages[0].content, "a\nb");
  EXPECT_EQ(messages[1].content, "");
  EXPECT_EQ(messages[1].reasoning_content, "t");
}

TEST(Messages, GiveTemplatesArgumentsAsAnObject) {
  const auto messages = read_chat_messages(kMessages);
  const auto json = chat::to_template(messages[1], "messages[1]");
  EXPECT_EQ(dump_json(json["tool_calls"][0]["function"]["arguments"]), R"({"b":1,"a":2})");
  EXPECT_EQ(json["thinking"], "Hm.");
}

TEST(Messages, RefuseWhatTheyAreNot) {
  const auto refused = [](const std::string& json, const char* message) {
    expect_error([&] { read_chat_messages(json, "chat.json"); }, message);
  };
  refused("1", "chat.json: messages is 1, expected a list of messages");
  refused("[", "chat.json: is not JSON");
  refused("[1]", "chat.json: messages[0] is 1, expected an object");
  refused("[{}]", "chat.json: messages[0].role is missing");
  refused(R"([{"role": 1}])", "chat.json: messages[0].role is 1, expected a string");
  refused(R"([{"role": "user", "content": 1}])", "messages[0].content is 1, expected a string");
  refused(R"([{"role": "user", "content": [{"type": "image_url"}]}])",
          "messages[0].content[0] has the type \"image_url\", expected text alone");
  refused(R"([{"role": "user", "tool_calls": 1}])", "messages[0].tool_calls is 1, expected a list");
  refused(R"([{"role": "user", "tool_calls": [{"function": {}}]}])",
          "messages[0].tool_calls[0].function.name is missing");
  expect_error([] { read_chat_messages(R"([{"role": "user"}, {}])"); },
               "messages[1].role is missing");
  refused(std::string(100000, '['), "brackets nest deeper than 64 levels");
}

TEST(Messages, TakePartsOfTextInAnySpelling) {
  const auto messages = read_chat_messages(
      R"([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "input_text", "text": "b"},
          {"type": "output_text", "text": "c"}, {"type": "refusal", "refusal": "d"}]}])");
  EXPECT_EQ(messages[0].content, "a\nb\nc\nd");
}

TEST(Messages, RefuseFieldsThatTheyDoNotKnow) {
  const auto refused = [](const std::string& json, const char* message) {
    EXPECT_THROW(read_chat_messages(json), InputError);
    expect_error([&] { read_chat_messages(json); }, message);
  };
  refused(R"([{"role": "user", "contents": "a"}])",
          "messages[0].contents is not a known field; did you mean content?");
  EXPECT_EQ(read_chat_messages(R"([{"role": "user", "content": "a", "phase": null}])").size(), 1u);
  refused(R"([{"role": "user", "content": [{"type": "text", "txt": "a"}]}])",
          "messages[0].content[0].txt is not a known field");
  refused(R"([{"role": "user", "tool_calls": [{"function": {"name": "f", "argument": {}}}]}])",
          "messages[0].tool_calls[0].function.argument is not a known field");
  refused(R"([{"role": "user", "tool_calls": [{"type": "custom", "name": "f"}]}])",
          "messages[0].tool_calls[0].type is \"custom\", expected \"function\"");
  refused(R"([{"role": "assistant", "audio": {"id": "a"}}])",
          "messages[0].audio is {\"id\":\"a\"}");
}

TEST(Messages, TakeWhatClientsSendBackOfAnAnswer) {
  const auto messages = read_chat_messages(
      R"([{"role": "assistant", "content": "a", "refusal": null, "annotations": [], "audio": null,
           "function_call": null, "name": "n", "reasoning": "r", "id": "1", "parsed": null,
           "tool_calls": [{"index": 0, "id": "c", "type": "function",
                           "function": {"name": "f", "arguments": ""}}]},
          {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "3"}]},
          {"role": "assistant", "content": null, "refusal": "No."}])");
  EXPECT_EQ(messages[0].reasoning_content, "r");
  EXPECT_EQ(messages[1].tool_call_id, "c");
  EXPECT_EQ(messages[2].content, "No.");
}

TEST(Messages, GiveTemplatesAnObjectForEmptyArguments) {
  for (const char* empty : {"", " \n", "{}"}) {
    const ChatMessage message{.role = "assistant",
                              .content = "",
                              .tool_calls = {{.id = "", .name = "f", .arguments = empty}}};
    EXPECT_EQ(chat::to_template(message, "messages[0]")["tool_calls"][0]["function"]["arguments"],
              nlohmann::ordered_json::object());
  }
}

TEST(FuzzMessages, AreReadOrRefused) {
  fuzz("messages", 20000, [&](uint64_t number, Dice& dice) {
    std::string json = kMessages;
    for (size_t i = mutation_count(number, dice); i > 0; --i) mutate(json, dice);
    const auto messages = read_chat_messages(json);
    EXPECT_EQ(write_chat_messages(read_chat_messages(write_chat_messages(messages))),
              write_chat_messages(messages));
  });
}

TEST(Messages, ARequestBringsItsToolsAndVariables) {
  ChatOptions options{.tools = "[]"};
  EXPECT_EQ(write_chat_messages(read_chat_request(kMessages, "line", options)), kMessages);
  EXPECT_EQ(options.tools, "[]");
  const std::string request = R"({"chat_template_kwargs":{"a":1},"tools":[2],"messages":)";
  EXPECT_EQ(write_chat_messages(read_chat_request(request + kMessages + "}", "line", options)),
            kMessages);
  EXPECT_EQ(options.tools, "[2]");
  EXPECT_EQ(options.chat_template_kwargs, R"({"a":1})");
  EXPECT_THROW(read_chat_request("[", "line", options), InputError);
}

}  // namespace
}  // namespace heed
