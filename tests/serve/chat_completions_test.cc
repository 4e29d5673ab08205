// /v1/chat/completions answers what Model::chat() computes, streamed or not.
#include "heed/base/utf8.h"
#include "tests/serve/completion_requests.h"

namespace heed::serve {
namespace {

TEST(ChatCompletions, EqualChatStreamedOrNot) {
  const Model model = RunningServer::shared().model("chat");
  const std::vector<ChatMessage> messages{{.role = "user", .content = "the sea"}};
  const ChatResult expected =
      model.chat(messages, {.max_new_tokens = 6, .top_log_probabilities = 1});
  const Json request = {{"model", "chat"},
                        {"messages", {{{"role", "user"}, {"content", "the sea"}}}},
                        {"max_completion_tokens", 6},
                        {"logprobs", true},
                        {"top_logprobs", 1},
                        {"n", 2}};
  const Json whole = posted("/v1/chat/completions", request);
  EXPECT_EQ(whole["object"], "chat.completion");
  ASSERT_EQ(whole["choices"].size(), 2u);
  const Json& choice = whole["choices"][0];
  EXPECT_EQ(choice["message"]["role"], "assistant");
  EXPECT_EQ(choice["message"]["content"], expected.answer.content);
  const std::vector<TokenLogProbability>& chosen = expected.generation.chosen;
  ASSERT_EQ(choice["logprobs"]["content"].size(), chosen.size());
  for (size_t i = 0; i < chosen.size(); ++i)
    EXPECT_EQ(choice["logprobs"]["content"][i]["logprob"].get<double>(), chosen[i].log_probability);

  std::string content;
  Json log_probabilities = Json::array(), finish;
  const std::vector<Json> chunks = streamed("/v1/chat/completions", request);
  ASSERT_FALSE(chunks.empty());
  for (const Json& chunk : chunks) {
    EXPECT_EQ(chunk["object"], "chat.completion.chunk");
    for (const Json& part : chunk["choices"]) {
      if (part["index"] != 0) continue;
      content += part["delta"].value("content", "");
      if (part["logprobs"].is_object())
        for (const Json& one : part["logprobs"]["content"]) log_probabilities.push_back(one);
      if (!part["finish_reason"].is_null()) finish = part["finish_reason"];
    }
  }
  EXPECT_EQ(content, expected.answer.content);
  EXPECT_EQ(log_probabilities, choice["logprobs"]["content"]);
  EXPECT_EQ(finish, choice["finish_reason"]);
  EXPECT_EQ(chunks.back()["usage"], whole["usage"]);
}

TEST(ChatCompletions, KeepTheLastTokensOfAPromptIfAskedTo) {
  Json request = {{"model", "chat"},
                  {"messages", {{{"role", "user"}, {"content", "the sea"}}}},
                  {"max_tokens", 3}};
  const Json whole = posted("/v1/chat/completions", request);
  request["truncate_prompt_tokens"] = -1;
  EXPECT_EQ(posted("/v1/chat/completions", request)["choices"], whole["choices"]);
  request["truncate_prompt_tokens"] = 4;
  EXPECT_EQ(posted("/v1/chat/completions", request)["usage"]["prompt_tokens"], 4);
  // A prompt that the context does not hold is one that it holds.
  request["messages"][0]["content"] = std::string(2000, 'a');
  request["truncate_prompt_tokens"] = -1;
  EXPECT_EQ(posted("/v1/chat/completions", request)["usage"]["prompt_tokens"], 63);
}

TEST(ChatCompletions, RefuseWrongFields) {
  const Json request = {{"model", "chat"}, {"messages", {{{"role", "user"}, {"content", "a"}}}}};
  refused_each("/v1/chat/completions", request, kWrongSampling);
  refused_each("/v1/chat/completions", request,
               {{"messages", Json::array()},
                {"tools", 1},
                {"tool_choice", "required"},
                {"logprobs", 1},
                {"top_logprobs", 2},
                {"response_format", 1},
                {"structured_outputs", 1},
                {"add_generation_prompt", false},
                {"continue_final_message", true},
                {"chat_template_kwargs", 1}});
  refused("/v1/chat/completions", {{"model", "chat"}}, "messages");
  refused("/v1/chat/completions", {{"model", "chat"}, {"messages", {{{"role", 1}}}}},
          "messages[0].role");
  refused_each("/v1/chat/completions", request, {{"max_tokens", 0}});
  Json other = request;
  other["model"] = "lm";
  refused("/v1/chat/completions", other, "model");
}

TEST(ChatCompletions, NameThePlaceInMessages) {
  const auto refused_messages = [](const Json& message, const std::string& place) {
    const Json error = refused(
        "/v1/chat/completions",
        {{"model", "chat"}, {"messages", {{{"role", "user"}, {"content", "a"}}, message}}}, place);
    EXPECT_TRUE(error["message"].get<std::string>().starts_with(place + " ")) << error;
  };
  refused_messages({{"role", "banana"}, {"content", "a"}}, "messages[1].role");
  refused_messages({{"role", "user"}, {"contents", "a"}}, "messages[1].contents");
  refused_messages({{"role", "user"}, {"content", {{{"type", "image_url"}}}}},
                   "messages[1].content[0]");
  const auto call = [](const Json& arguments) {
    return Json{{"role", "assistant"},
                {"tool_calls", {{{"function", {{"name", "f"}, {"arguments", arguments}}}}}}};
  };
  const std::string place = "messages[1].tool_calls[0].function.arguments";
  refused_messages(call("[1]"), place);
  Json request = {{"model", "bytes"},
                  {"messages", {{{"role", "user"}, {"content", "a"}}, call("{")}},
                  {"tools", {{{"type", "function"}, {"function", {{"name", "f"}}}}}},
                  {"max_tokens", 1}};
  refused("/v1/chat/completions", request, place);
  request["messages"][1] = call("");
  posted("/v1/chat/completions", request);
  request["tools"][0].erase("function");
  refused("/v1/chat/completions", request, "tools[0]");
}

TEST(ChatCompletions, TakeDeveloperForSystem) {
  Json request = {
      {"model", "chat"},
      {"max_tokens", 4},
      {"messages",
       {{{"role", "system"}, {"content", "old"}}, {{"role", "user"}, {"content", "the sea"}}}}};
  const Json expected = posted("/v1/chat/completions", request);
  request["messages"][0]["role"] = "developer";
  const Json found = posted("/v1/chat/completions", request);
  EXPECT_EQ(found["choices"], expected["choices"]);
  EXPECT_EQ(found["usage"], expected["usage"]);
}

TEST(ChatCompletions, TokensHaveTheBytesOfTheAnswer) {
  const Json choice =
      posted("/v1/chat/completions", {{"model", "bytes"},
                                      {"messages", {{{"role", "user"}, {"content", "the sea"}}}},
                                      {"max_tokens", 16},
                                      {"skip_special_tokens", false},
                                      {"logprobs", true},
                                      {"top_logprobs", 5}})["choices"][0];
  std::string text;
  for (const Json& token : choice["logprobs"]["content"]) {
    for (const Json& byte : token["bytes"]) text += static_cast<char>(byte.get<int>());
    EXPECT_EQ(token["top_logprobs"].size(), 5u);
  }
  // A text is whole characters; what is not one is shown as U+FFFD.
  EXPECT_EQ(with_replacements(text), choice["message"]["content"].get<std::string>());
}

}  // namespace
}  // namespace heed::serve
