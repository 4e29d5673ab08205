// OpenAI's responses answer what Model::chat() does.
#include "tests/serve/running_server.h"

namespace heed::serve {
namespace {

const std::vector<ChatMessage> kMessages{{.role = "system", .content = "old"},
                                         {.role = "user", .content = "the sea"}};
const Json kRequest = {
    {"model", "chat"}, {"instructions", "old"}, {"input", "the sea"}, {"max_output_tokens", 6}};

TEST(Responses, EqualChat) {
  const Model model = RunningServer::shared().model("chat");
  const ChatResult expected = model.chat(kMessages, {.max_new_tokens = 6});
  const Json found = posted("/v1/responses", kRequest);
  EXPECT_EQ(found["object"], "response");
  const bool cut = expected.generation.finish_reason == FinishReason::length;
  EXPECT_EQ(found["status"], cut ? "incomplete" : "completed");
  ASSERT_EQ(found["output"].size(), 1u);
  EXPECT_EQ(found["output"][0]["role"], "assistant");
  EXPECT_EQ(found["output"][0]["content"][0]["type"], "output_text");
  EXPECT_EQ(found["output"][0]["content"][0]["text"], expected.answer.content);
  EXPECT_EQ(found["instructions"], "old");
  EXPECT_EQ(found["usage"]["input_tokens"], model.chat_prompt(kMessages).tokens.size());
  EXPECT_EQ(found["usage"]["output_tokens"], expected.generation.tokens.size());
}

TEST(Responses, ReadMessagesAndParts) {
  const Json whole = posted("/v1/responses", kRequest);
  Json request = kRequest;
  request.erase("instructions");
  request["input"] = {{{"role", "developer"}, {"content", "old"}},
                      {{"type", "message"},
                       {"role", "user"},
                       {"content", {{{"type", "input_text"}, {"text", "the sea"}}}}}};
  EXPECT_EQ(posted("/v1/responses", request)["output"][0]["content"],
            whole["output"][0]["content"]);
}

TEST(Responses, StreamTheSame) {
  Json whole = posted("/v1/responses", kRequest);
  Json request = kRequest;
  request["stream"] = true;
  const Answer answer = post("/v1/responses", request);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const std::vector<Event> events = events_of(answer.body);
  std::vector<std::string> names;
  std::string text;
  for (size_t i = 0; i < events.size(); ++i) {
    const Json event = Json::parse(events[i].data);
    EXPECT_EQ(event["type"], events[i].name);
    EXPECT_EQ(event["sequence_number"], i);
    if (events[i].name == "response.output_text.delta") text += event["delta"].get<std::string>();
    if (names.empty() || names.back() != events[i].name) names.push_back(events[i].name);
  }
  const std::string end = "response." + whole["status"].get<std::string>();
  EXPECT_EQ(names, (std::vector<std::string>{
                       "response.created", "response.in_progress", "response.output_item.added",
                       "response.content_part.added", "response.output_text.delta",
                       "response.output_text.done", "response.content_part.done",
                       "response.output_item.done", end}));
  EXPECT_EQ(text, whole["output"][0]["content"][0]["text"]);
  Json last = Json::parse(events.back().data)["response"];
  for (const char* own : {"id", "created_at"}) last.erase(own), whole.erase(own);
  last["output"][0].erase("id");
  whole["output"][0].erase("id");
  EXPECT_EQ(last, whole);
}

TEST(Responses, MatchTheFormatThatTheyRepeat) {
  const Json schema = {{"enum", {nullptr, true}}, {"title", "x"}};
  Json request = kRequest;
  request["max_output_tokens"] = 300;
  request["temperature"] = 1.5;
  request["text"]["format"] = {
      {"type", "json_schema"}, {"name", "a"}, {"schema", schema}, {"strict", true}};
  const Json found = posted("/v1/responses", request);
  EXPECT_EQ(found["status"], "completed");
  const Json text = found["output"][0]["content"][0]["text"];
  EXPECT_TRUE(text == "null" || text == "true") << text;
  Json expected = request["text"]["format"];
  expected["description"] = nullptr;
  EXPECT_EQ(found["text"]["format"], expected);

  request["text"]["format"]["schema"] = {{"type", "array"}, {"uniqueItems", true}};
  refused("/v1/responses", request, "text.format.schema");
  request["text"]["format"] = {{"type", "json_schema"}, {"name", "a"}};
  refused("/v1/responses", request, "text.format.schema");
  request["text"]["format"] = {{"type", "text"}};
  EXPECT_EQ(posted("/v1/responses", request)["text"]["format"], request["text"]["format"]);
}

TEST(Responses, RefuseWrongFields) {
  refused_each("/v1/responses", kRequest,
               {{"input", Json::array()},
                {"instructions", 1},
                {"max_output_tokens", 0},
                {"temperature", "a"},
                {"stream", 1},
                {"tools", 1},
                {"tool_choice", "required"},
                {"truncation", "auto"},
                {"previous_response_id", "resp_1"},
                {"conversation", "c"},
                {"max_output_token", 2}});
  Json request = kRequest;
  request["input"] = {{{"role", "user"}, {"content", {{{"type", "input_image"}}}}}};
  refused("/v1/responses", request, "input[0].content[0].type");
  request["input"] = {{{"type", "item_reference"}, {"id", "msg-1"}}};
  refused("/v1/responses", request, "input[0].type");
  request["input"] = {{{"type", "function_call_output"}, {"call_id", "a"}, {"output", "b"}}};
  refused("/v1/responses", request, "input[0].call_id");
  request["input"] = {{{"type", "reasoning"}, {"encrypted_content", "a"}}};
  refused("/v1/responses", request, "input[0].encrypted_content");
  request = kRequest;
  request["tools"] = {{{"type", "web_search"}}};
  refused("/v1/responses", request, "tools[0].type");
}

const Json kCallRequest = {
    {"model", "bytes"},
    {"input", "the sea"},
    {"temperature", 1.5},
    {"seed", 3},
    {"max_output_tokens", 300},
    {"tool_choice", {{"type", "function"}, {"name", "wait"}}},
    {"parallel_tool_calls", false},
    {"tools",
     {{{"type", "function"},
       {"name", "wait"},
       {"parameters", {{"type", "object"}, {"additionalProperties", false}}}}}}};

TEST(Responses, HaveCallsOfFunctionsAsItems) {
  const Json found = posted("/v1/responses", kCallRequest);
  EXPECT_EQ(found["status"], "completed");
  EXPECT_EQ(found["tools"], kCallRequest["tools"]);
  EXPECT_EQ(found["tool_choice"], kCallRequest["tool_choice"]);
  EXPECT_EQ(found["parallel_tool_calls"], false);
  EXPECT_EQ(found["seed"], 3);
  ASSERT_EQ(found["output"].size(), 1u) << found;
  const Json& call = found["output"][0];
  EXPECT_EQ(call["type"], "function_call");
  EXPECT_EQ(call["name"], "wait");
  EXPECT_EQ(Json::parse(call["arguments"].get<std::string>()), Json::object());

  Json request = kCallRequest;
  request["stream"] = true;
  std::vector<std::string> names;
  Json streamed;
  for (const Event& event : events_of(post("/v1/responses", request).body)) {
    names.push_back(event.name);
    if (event.name == "response.output_item.done") streamed = Json::parse(event.data)["item"];
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{
                "response.created", "response.in_progress", "response.output_item.added",
                "response.function_call_arguments.delta", "response.function_call_arguments.done",
                "response.output_item.done", "response.completed"}));
  for (const char* const same : {"name", "arguments", "call_id", "status"})
    EXPECT_EQ(streamed[same], call[same]);
}

/// What a response has may be part of the next request, and is what a chat's messages are.
TEST(Responses, TakeTheirOwnItemsAsInput) {
  const Json call = {{"type", "function_call"}, {"id", "fc-1"},      {"call_id", "c1"},
                     {"name", "wait"},          {"arguments", "{}"}, {"status", "completed"}};
  const Json reasoning = {{"type", "reasoning"},
                          {"id", "rs-1"},
                          {"summary", Json::array()},
                          {"encrypted_content", nullptr},
                          {"content", {{{"type", "reasoning_text"}, {"text", "hm"}}}}};
  const Json result = {{"type", "function_call_output"}, {"call_id", "c1"}, {"output", "old"}};
  const Json said = {{"role", "assistant"},
                     {"id", "msg-1"},
                     {"phase", nullptr},
                     {"content", {{{"type", "output_text"}, {"text", "a"}}}}};
  const Json question = {{"role", "user"}, {"content", "the sea"}};
  const Json found = posted("/v1/responses", {{"model", "chat"},
                                              {"previous_response_id", nullptr},
                                              {"input", {question, reasoning, said, question}},
                                              {"max_output_tokens", 6}});
  const Json expected =
      posted("/v1/chat/completions",
             {{"model", "chat"},
              {"messages",
               {question,
                {{"role", "assistant"}, {"content", "a"}, {"reasoning_content", "hm"}},
                question}},
              {"max_tokens", 6}});
  EXPECT_EQ(found["usage"]["input_tokens"], expected["usage"]["prompt_tokens"]);
  EXPECT_EQ(found["output"][0]["content"][0]["text"], expected["choices"][0]["message"]["content"]);
  Json request = kCallRequest;
  request["tool_choice"] = "none";
  request["input"] = {question, call, result, question};
  posted("/v1/responses", request);
}

}  // namespace
}  // namespace heed::serve
