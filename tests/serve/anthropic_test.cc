// Anthropic's messages answer what Model::chat() does.
#include "tests/serve/running_server.h"

namespace heed::serve {
namespace {

const std::string kMessages = "/v1/messages", kCount = "/v1/messages/count_tokens";

const Json kColourTool = {{"name", "paint"},
                          {"description", "Paints"},
                          {"input_schema",
                           {{"type", "object"},
                            {"properties", {{"colour", {{"enum", {"red", "green"}}}}}},
                            {"required", {"colour"}},
                            {"additionalProperties", false}}}};

Json anthropic_request(const Json& more = Json::object()) {
  Json request = {{"model", "chat"},
                  {"max_tokens", 6},
                  {"seed", 1},
                  {"system", "old"},
                  {"messages", {{{"role", "user"}, {"content", "the sea"}}}}};
  request.update(more);
  return request;
}

Json request_for_paint(const Json& more) {
  Json request =
      anthropic_request({{"model", "bytes"},
                         {"max_tokens", 700},
                         {"temperature", 1},
                         {"tools", {kColourTool}},
                         {"tool_choice", {{"type", "any"}, {"disable_parallel_tool_use", true}}}});
  request.update(more);
  return request;
}

/// The events of a stream, each of which has its type as its name.
std::vector<Json> anthropic_events(Json request) {
  request["stream"] = true;
  const Answer answer = post(kMessages, request);
  EXPECT_EQ(answer.status, 200) << answer.body;
  std::vector<Json> events;
  for (const Event& event : events_of(answer.body)) {
    events.push_back(Json::parse(event.data));
    EXPECT_EQ(events.back()["type"], event.name);
  }
  return events;
}

std::vector<std::string> types_of(const std::vector<Json>& events) {
  std::vector<std::string> types;
  for (const Json& event : events)
    if (types.empty() || types.back() != event["type"]) types.push_back(event["type"]);
  return types;
}

/// The message that a client puts together from a stream.
Json put_together(const std::vector<Json>& events) {
  Json message;
  std::string arguments;
  for (const Json& event : events) {
    if (event["type"] == "message_start") message = event["message"];
    if (event["type"] == "content_block_start")
      message["content"].push_back(event["content_block"]);
    if (event["type"] == "content_block_delta") {
      Json& block = message["content"][event["index"].get<size_t>()];
      const Json& delta = event["delta"];
      if (delta["type"] == "input_json_delta") {
        block["input"] = Json::parse(delta["partial_json"].get<std::string>());
      } else {
        const std::string name = block["type"];
        EXPECT_EQ(delta["type"], name + "_delta");
        block[name] = block[name].get<std::string>() + delta[name].get<std::string>();
      }
    }
    if (event["type"] == "message_delta") {
      message.update(event["delta"]);
      message["usage"] = event["usage"];
    }
  }
  message.erase("id");
  return message;
}

Json without_id(Json message) {
  message.erase("id");
  return message;
}

/// The error, which must be 400 in Anthropic's form.
std::string refusal(const std::string& path, const Json& request) {
  const Answer answer = post(path, request);
  EXPECT_EQ(answer.status, 400) << request << answer.body;
  const Json body = answer.json();
  EXPECT_EQ(body["type"], "error") << answer.body;
  EXPECT_EQ(body["error"]["type"], "invalid_request_error") << answer.body;
  return body["error"].value("message", "");
}

TEST(Anthropic, EqualsChat) {
  const Model model = RunningServer::shared().model("chat");
  const std::vector<ChatMessage> messages{{.role = "system", .content = "old"},
                                          {.role = "user", .content = "the sea"}};
  const ChatResult expected = model.chat(messages, {.max_new_tokens = 6});
  const Json found = posted(kMessages, anthropic_request());
  EXPECT_EQ(found["type"], "message");
  EXPECT_EQ(found["role"], "assistant");
  EXPECT_EQ(found["model"], "chat");
  EXPECT_EQ(found["content"], Json::array({{{"type", "text"}, {"text", expected.answer.content}}}));
  const bool cut = expected.generation.finish_reason == FinishReason::length;
  EXPECT_EQ(found["stop_reason"], cut ? "max_tokens" : "end_turn");
  EXPECT_EQ(found["stop_sequence"], nullptr);
  const size_t prompt = model.chat_prompt(messages).tokens.size();
  EXPECT_EQ(found["usage"]["input_tokens"], prompt);
  EXPECT_EQ(found["usage"]["output_tokens"], expected.generation.tokens.size());
  Json request = anthropic_request();
  request.erase("max_tokens");
  request.erase("seed");
  EXPECT_EQ(posted(kCount, request), (Json{{"input_tokens", prompt}}));
}

TEST(Anthropic, BlocksAreTheSameAsTexts) {
  const Json block = {{"type", "text"}, {"text", "the sea"}, {"cache_control", nullptr}};
  EXPECT_EQ(
      posted(kMessages, anthropic_request(
                            {{"system", {{{"type", "text"}, {"text", "old"}}}},
                             {"metadata", {{"user_id", "a"}}},
                             {"messages", {{{"role", "user"}, {"content", {block}}}}}}))["content"],
      posted(kMessages, anthropic_request())["content"]);
}

TEST(Anthropic, StreamsTheSame) {
  const std::vector<Json> events = anthropic_events(anthropic_request());
  EXPECT_EQ(types_of(events),
            (std::vector<std::string>{"message_start", "ping", "content_block_start",
                                      "content_block_delta", "content_block_stop", "message_delta",
                                      "message_stop"}));
  EXPECT_EQ(put_together(events), without_id(posted(kMessages, anthropic_request())));
}

TEST(Anthropic, AStopSequenceIsNamed) {
  const std::string text = posted(kMessages, anthropic_request())["content"][0]["text"];
  ASSERT_GT(text.size(), 2u);
  const std::string stop = text.substr(text.size() / 2, 1);
  const Json found = posted(kMessages, anthropic_request({{"stop_sequences", {stop}}}));
  EXPECT_EQ(found["stop_reason"], "stop_sequence");
  EXPECT_EQ(found["stop_sequence"], stop);
}

TEST(Anthropic, ADemandedToolIsCalled) {
  for (const char* const type : {"any", "tool"}) {
    Json choice = {{"type", type}, {"disable_parallel_tool_use", true}};
    if (type == std::string_view("tool")) choice["name"] = "paint";
    const Json request = request_for_paint({{"tool_choice", choice}});
    const Json message = posted(kMessages, request);
    EXPECT_EQ(message["stop_reason"], "tool_use");
    ASSERT_EQ(message["content"].size(), 1u) << message;
    const Json& block = message["content"][0];
    EXPECT_EQ(block["type"], "tool_use");
    EXPECT_EQ(block["name"], "paint");
    EXPECT_TRUE(block["input"] == (Json{{"colour", "red"}}) ||
                block["input"] == (Json{{"colour", "green"}}))
        << block;
    EXPECT_EQ(put_together(anthropic_events(request)), without_id(message));
  }
}

TEST(Anthropic, CallsAndTheirResultsArePartOfThePrompt) {
  const Json call = {
      {"type", "tool_use"}, {"id", "c1"}, {"name", "paint"}, {"input", {{"colour", "red"}}}};
  const Json result = {{"type", "tool_result"}, {"tool_use_id", "c1"}, {"content", "done"}};
  Json request = anthropic_request(
      {{"model", "bytes"},
       {"tools", {kColourTool}},
       {"messages",
        {{{"role", "user"}, {"content", "the sea"}},
         {{"role", "assistant"}, {"content", {{{"type", "text"}, {"text", "I paint"}}, call}}},
         {{"role", "user"}, {"content", {result, {{"type", "text"}, {"text", "and now?"}}}}}}}});
  const Model model = RunningServer::shared().model("bytes");
  const std::vector<ChatMessage> messages{
      {.role = "system", .content = "old"},
      {.role = "user", .content = "the sea"},
      {.role = "assistant",
       .content = "I paint",
       .tool_calls = {{.id = "c1", .name = "paint", .arguments = R"({"colour":"red"})"}}},
      {.role = "tool", .content = "done", .tool_call_id = "c1", .name = "paint"},
      {.role = "user", .content = "and now?"}};
  const Json function = {{"type", "function"},
                         {"function",
                          {{"name", "paint"},
                           {"description", "Paints"},
                           {"parameters", kColourTool["input_schema"]}}}};
  const ChatOptions options{.tools = Json::array({function}).dump()};
  request.erase("max_tokens");
  request.erase("seed");
  EXPECT_EQ(posted(kCount, request)["input_tokens"],
            model.chat_prompt(messages, options).tokens.size());
  request["messages"][2]["content"][0]["tool_use_id"] = "c2";
  EXPECT_NE(refusal(kCount, request).find("messages[2].content[0].tool_use_id"), std::string::npos);
}

TEST(Anthropic, ThinkingIsABlockOfItsOwn) {
  const Json request = anthropic_request(
      {{"model", "thinker"}, {"thinking", {{"type", "enabled"}, {"budget_tokens", 1024}}}});
  const Json found = posted(kMessages, request);
  ASSERT_EQ(found["content"].size(), 1u) << found;
  EXPECT_EQ(found["content"][0]["type"], "thinking");
  EXPECT_NE(found["content"][0]["thinking"], "");
  EXPECT_EQ(found["content"][0]["signature"], "");
  EXPECT_EQ(put_together(anthropic_events(request)), without_id(found));
  const Json without = posted(
      kMessages, anthropic_request({{"model", "thinker"}, {"thinking", {{"type", "disabled"}}}}));
  EXPECT_EQ(without["content"][0]["type"], "text") << without;
  // It is sent back, and takes tokens where the template shows it.
  Json next = request;
  next["messages"].push_back({{"role", "assistant"}, {"content", found["content"]}});
  next["messages"].push_back({{"role", "user"}, {"content", "and?"}});
  posted(kMessages, next);
}

TEST(Anthropic, ASchemaIsEnforced) {
  const Json schema = {{"enum", {"yes", "no"}}};
  const Json found =
      posted(kMessages,
             anthropic_request(
                 {{"model", "bytes"},
                  {"max_tokens", 50},
                  {"output_config", {{"format", {{"type", "json_schema"}, {"schema", schema}}}}}}));
  const std::string text = found["content"][0]["text"];
  EXPECT_TRUE(text == "\"yes\"" || text == "\"no\"") << text;
}

TEST(Anthropic, RefusesWithAnthropicsErrors) {
  const auto refused_with = [](const Json& more, const std::string& word) {
    const std::string message = refusal(kMessages, anthropic_request(more));
    EXPECT_NE(message.find(word), std::string::npos) << more << message;
  };
  const auto content = [](const Json& block) {
    return Json{{"messages", {{{"role", "user"}, {"content", {block}}}}}};
  };
  refused_with(content({{"type", "image"}, {"source", {{"type", "url"}}}}),
               "messages[0].content[0].type");
  refused_with(content({{"type", "text"}, {"text", "a"}, {"txt", "b"}}),
               "messages[0].content[0].txt");
  refused_with({{"max_tokens", nullptr}}, "max_tokens is missing");
  refused_with({{"messages", Json::array()}}, "messages");
  refused_with({{"messages", {{{"role", "user"}, {"content", Json::array()}}}}},
               "a list with at least one block");
  refused_with({{"messages", {{{"role", "system"}, {"content", "a"}}}}}, "messages[0].role");
  refused_with(
      {{"messages",
        {{{"role", "user"}, {"content", "a"}}, {{"role", "assistant"}, {"content", "b"}}}}},
      "the last message must be the user's");
  refused_with({{"tools", {{{"type", "web_search_20250305"}, {"name", "web_search"}}}}},
               "tools[0].type");
  refused_with({{"tools", {{{"name", "a"}}}}}, "tools[0].input_schema");
  refused_with({{"tool_choice", {{"type", "required"}}}}, "tool_choice.type");
  refused_with({{"mcp_servers", {{{"name", "a"}}}}}, "mcp_servers");
  refused_with({{"thinking", {{"type", "long"}}}}, "thinking.type");
  refused_with({{"stop_sequences", Json(std::vector<std::string>(65, "a"))}}, "stop_sequences");
  refused_with({{"model", "encoder"}}, "cannot chat");
  const Answer unknown = post(kMessages, anthropic_request({{"model", "none"}}));
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.json()["error"]["type"], "not_found_error");
}

TEST(Anthropic, SampledAnswersNameTheirSeed) {
  Json request = anthropic_request({{"temperature", 1}});
  request.erase("seed");
  const Json first = posted(kMessages, request);
  request["seed"] = first["seed"];
  EXPECT_EQ(posted(kMessages, request)["content"], first["content"]);
  EXPECT_EQ(anthropic_events(request)[0]["message"]["seed"], first["seed"]);
}

}  // namespace
}  // namespace heed::serve
