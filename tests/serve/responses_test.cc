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
                {"tools", {1}},
                {"tool_choice", "required"},
                {"truncation", "auto"},
                {"previous_response_id", "resp_1"},
                {"n", 2},
                {"colour", "red"}});
  Json request = kRequest;
  request["input"] = {{{"role", "user"}, {"content", {{{"type", "input_image"}}}}}};
  refused("/v1/responses", request, "input[0].content[0].type");
}

}  // namespace
}  // namespace heed::serve
