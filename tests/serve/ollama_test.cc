// Ollama's API answers what the models do.
#include <cmath>

#include "tests/serve/running_server.h"

namespace heed::serve {
namespace {

const std::string kChat = "/api/chat", kGenerate = "/api/generate";

Json ollama_chat(const Json& more = Json::object()) {
  Json request = {
      {"model", "chat"},
      {"stream", false},
      {"options", {{"num_predict", 6}}},
      {"messages",
       {{{"role", "system"}, {"content", "old"}}, {{"role", "user"}, {"content", "the sea"}}}}};
  request.update(more);
  return request;
}

/// The lines of a stream, which is the default.
std::vector<Json> ollama_lines(const std::string& path, Json request) {
  request.erase("stream");
  const Answer answer = post(path, request);
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.headers.at("content-type"), "application/x-ndjson");
  std::vector<Json> lines;
  std::istringstream text(answer.body);
  for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
  return lines;
}

/// The error, which must be 400 and begin with the place.
void ollama_refuses(const std::string& path, const Json& request, const std::string& place) {
  const Answer answer = post(path, request);
  EXPECT_EQ(answer.status, 400) << request << answer.body;
  const std::string message = answer.json().value("error", "");
  EXPECT_TRUE(message.starts_with(place)) << message;
}

TEST(Ollama, ChatEqualsChat) {
  const Model model = RunningServer::shared().model("chat");
  const std::vector<ChatMessage> messages{{.role = "system", .content = "old"},
                                          {.role = "user", .content = "the sea"}};
  const ChatResult expected = model.chat(messages, {.max_new_tokens = 6});
  const Json found = posted(kChat, ollama_chat());
  EXPECT_EQ(found["message"], (Json{{"role", "assistant"}, {"content", expected.answer.content}}));
  EXPECT_EQ(found["done"], true);
  EXPECT_EQ(found["done_reason"], name_of(expected.generation.finish_reason));
  EXPECT_EQ(found["prompt_eval_count"], model.chat_prompt(messages).tokens.size());
  EXPECT_EQ(found["eval_count"], expected.generation.tokens.size());
  EXPECT_GT(found["total_duration"], 0);
  EXPECT_GE(found["total_duration"].get<int64_t>(),
            found["prompt_eval_duration"].get<int64_t>() + found["eval_duration"].get<int64_t>());
  // Clients add a tag to names.
  EXPECT_EQ(posted(kChat, ollama_chat({{"model", "chat:latest"}}))["message"], found["message"]);
}

TEST(Ollama, StreamsUnlessToldOtherwise) {
  const Json whole = posted(kChat, ollama_chat());
  const std::vector<Json> lines = ollama_lines(kChat, ollama_chat());
  std::string content;
  for (size_t i = 0; i < lines.size(); ++i) {
    content += lines[i]["message"]["content"].get<std::string>();
    EXPECT_EQ(lines[i]["done"], i + 1 == lines.size());
  }
  EXPECT_EQ(content, whole["message"]["content"]);
  EXPECT_EQ(lines.back()["eval_count"], whole["eval_count"]);
}

TEST(Ollama, GenerateAnswersOrContinues) {
  const Model chat = RunningServer::shared().model("chat");
  const Json options = {{"num_predict", 5}};
  Json request = {{"model", "chat"}, {"prompt", "the sea"}, {"stream", false}};
  request["options"] = options;
  const ChatResult answered =
      chat.chat({{.role = "user", .content = "the sea"}}, {.max_new_tokens = 5});
  EXPECT_EQ(posted(kGenerate, request)["response"], answered.answer.content);
  request["raw"] = true;
  EXPECT_EQ(posted(kGenerate, request)["response"],
            chat.generate("the sea", {.max_new_tokens = 5}).text);
  request["system"] = "old";
  ollama_refuses(kGenerate, request, "system");
  const Json plain = {{"model", "lm"}, {"prompt", "the sea"}, {"options", options}};
  std::string text;
  for (const Json& line : ollama_lines(kGenerate, plain))
    text += line["response"].get<std::string>();
  EXPECT_EQ(text,
            RunningServer::shared().model("lm").generate("the sea", {.max_new_tokens = 5}).text);
}

TEST(Ollama, AnEmptyRequestLoadsTheModel) {
  const Json chat = posted(kChat, {{"model", "chat"}, {"keep_alive", 300}});
  EXPECT_EQ(chat["done_reason"], "load");
  EXPECT_EQ(chat["message"]["content"], "");
  EXPECT_EQ(posted(kGenerate, {{"model", "lm"}})["done_reason"], "load");
  ollama_refuses(kChat, {{"model", "chat"}, {"think", 1}}, "think");
  ollama_refuses(kChat, {{"model", "chat"}, {"tools", {1}}}, "tools");
}

TEST(Ollama, FormatsAreEnforced) {
  const Json schema = {{"enum", {"yes", "no"}}};
  const Json options = {{"num_predict", 60}};
  const std::string text = posted(kChat, ollama_chat({{"model", "bytes"},
                                                      {"options", options},
                                                      {"format", schema}}))["message"]["content"];
  EXPECT_TRUE(text == "\"yes\"" || text == "\"no\"") << text;
  const Json generate = {{"model", "bytes"},   {"prompt", "the sea"}, {"raw", true},
                         {"options", options}, {"format", schema},    {"stream", false}};
  EXPECT_EQ(posted(kGenerate, generate)["response"].get<std::string>().front(), '"');
  const std::string object = posted(kChat, ollama_chat({{"model", "bytes"},
                                                        {"options", options},
                                                        {"format", "json"}}))["message"]["content"];
  EXPECT_EQ(object.front(), '{');
  ollama_refuses(kChat, ollama_chat({{"format", "xml"}}), "format");
}

TEST(Ollama, ToolsAreOfferedAndTheirResultsRead) {
  const Json tool = {
      {"type", "function"},
      {"function",
       {{"name", "paint"}, {"parameters", {{"type", "object"}, {"properties", Json::object()}}}}}};
  const Json call = {{"function", {{"name", "paint"}, {"arguments", {{"colour", "red"}}}}}};
  const Json request =
      ollama_chat({{"model", "bytes"},
                   {"tools", {tool}},
                   {"messages",
                    {{{"role", "user"}, {"content", "the sea"}},
                     {{"role", "assistant"}, {"content", ""}, {"tool_calls", {call}}},
                     {{"role", "tool"}, {"content", "done"}, {"tool_name", "paint"}}}}});
  const std::vector<ChatMessage> messages{
      {.role = "user", .content = "the sea"},
      {.role = "assistant",
       .content = "",
       .tool_calls = {{.id = "000000001", .name = "paint", .arguments = R"({"colour":"red"})"}}},
      {.role = "tool", .content = "done", .tool_call_id = "000000001", .name = "paint"}};
  const ChatOptions options{.tools = Json::array({tool}).dump()};
  EXPECT_EQ(posted(kChat, request)["prompt_eval_count"],
            RunningServer::shared().model("bytes").chat_prompt(messages, options).tokens.size());
}

TEST(Ollama, ThinkingIsBesideTheContent) {
  const Json thought = posted(kChat, ollama_chat({{"model", "thinker"}, {"think", true}}));
  EXPECT_NE(thought["message"].value("thinking", ""), "");
  EXPECT_EQ(thought["message"]["content"], "");
  const Json answered = posted(kChat, ollama_chat({{"model", "thinker"}, {"think", false}}));
  EXPECT_FALSE(answered["message"].contains("thinking"));
  EXPECT_NE(answered["message"]["content"], "");
  posted(kChat, ollama_chat({{"think", "high"}}));
  ollama_refuses(kChat, ollama_chat({{"think", "much"}}), "think");
  ollama_refuses(kGenerate, {{"model", "lm"}, {"prompt", "a"}, {"think", "much"}}, "think");
}

TEST(Ollama, OptionsAreThoseOfSampling) {
  const auto with = [](const Json& options) { return ollama_chat({{"options", options}}); };
  const Json neutral = {{"num_predict", 6}, {"num_ctx", 4096}, {"repeat_last_n", 64},
                        {"typical_p", 1.0}, {"mirostat", 0},   {"temperature", 0},
                        {"seed", 7},        {"top_k", 40},     {"repeat_penalty", 1.0}};
  EXPECT_EQ(posted(kChat, with(neutral))["message"], posted(kChat, ollama_chat())["message"]);
  const Json penalized = {{"num_predict", 6}, {"repeat_penalty", 5.0}, {"temperature", 0}};
  const Model model = RunningServer::shared().model("chat");
  EXPECT_EQ(
      posted(kChat, with(penalized))["message"]["content"],
      model
          .chat({{.role = "system", .content = "old"}, {.role = "user", .content = "the sea"}},
                {.max_new_tokens = 6, .repetition_penalty = 5.0F})
          .answer.content);
  EXPECT_EQ(
      posted(kChat,
             with({{"num_predict", 6}, {"repeat_penalty", 5.0}, {"repeat_last_n", 0}}))["message"],
      posted(kChat, ollama_chat())["message"]);
  for (const Json& wrong :
       {Json{{"mirostat", 2}}, Json{{"typical_p", 0.5}}, Json{{"num_predict", -3}},
        Json{{"repeat_penalty", 1.1}, {"repeat_last_n", 64}}, Json{{"temperatur", 1}}})
    ollama_refuses(kChat, with(wrong), "options.");
  ollama_refuses(kChat, ollama_chat({{"name", 1}}), "name");  // beside "model"
  const Json refused = {{"context", {1, 2}}, {"template", "{{ .Prompt }}"}, {"images", {"aa"}}};
  for (const auto& [name, value] : refused.items()) {
    Json request = {{"model", "lm"}, {"prompt", "a"}};
    request[name] = value;
    ollama_refuses(kGenerate, request, name);
  }
}

TEST(Ollama, SampledAnswersNameTheirSeed) {
  Json options = {{"num_predict", 6}, {"temperature", 1}};
  const Json first = posted(kChat, ollama_chat({{"options", options}}));
  options["seed"] = first["seed"];
  EXPECT_EQ(posted(kChat, ollama_chat({{"options", options}}))["message"], first["message"]);
}

TEST(Ollama, EmbedsWithLengthOne) {
  const std::vector<std::string> texts{"the sea", "a ship"};
  const std::vector<std::vector<float>> expected =
      RunningServer::shared().model("encoder").embed_batch(texts);
  const Json found = posted("/api/embed", {{"model", "encoder"}, {"input", texts}});
  ASSERT_EQ(found["embeddings"].size(), 2u);
  for (size_t i = 0; i < texts.size(); ++i) {
    double length = 0, product = 0, own = 0;
    for (size_t k = 0; k < expected[i].size(); ++k) {
      const double value = found["embeddings"][i][k];
      length += value * value;
      own += static_cast<double>(expected[i][k]) * static_cast<double>(expected[i][k]);
      product += value * static_cast<double>(expected[i][k]);
    }
    EXPECT_NEAR(length, 1, 1e-5);
    EXPECT_NEAR(product, std::sqrt(own), 1e-4);
  }
  EXPECT_GT(found["prompt_eval_count"], 2);
  EXPECT_EQ(posted("/api/embed",
                   {{"model", "encoder"}, {"input", "a"}, {"dimensions", 4}})["embeddings"][0]
                .size(),
            4u);
  EXPECT_EQ(posted("/api/embeddings", {{"model", "encoder"}, {"prompt", "the sea"}})["embedding"],
            Json(expected[0]));
  std::string longer;
  for (int i = 0; i < 3000; ++i) longer += "sea ";
  posted("/api/embed", {{"model", "encoder"}, {"input", longer}});
  const Answer refused =
      post("/api/embed", Json{{"model", "encoder"}, {"input", longer}, {"truncate", false}});
  EXPECT_EQ(refused.status, 400) << refused.body;
}

TEST(Ollama, ListsItsModels) {
  const Json tags = get("/api/tags").json();
  std::vector<std::string> names;
  for (const Json& model : tags["models"]) {
    names.push_back(model["name"]);
    EXPECT_EQ(model["digest"].get<std::string>().size(), 64u);
  }
  EXPECT_NE(std::ranges::find(names, "chat"), names.end());
  EXPECT_EQ(get("/api/ps").json()["models"].size(), names.size());
  EXPECT_TRUE(get("/api/version").json()["version"].is_string());
  const Json shown = posted("/api/show", {{"model", "thinker:latest"}});
  EXPECT_EQ(shown["details"]["family"], "llama");
  EXPECT_EQ(shown["model_info"]["llama.context_length"], 1024);
  EXPECT_EQ(shown["capabilities"], Json({"completion", "tools", "thinking"}));
  EXPECT_EQ(posted("/api/show", {{"name", "encoder"}})["capabilities"], Json({"embedding"}));
  const Answer unknown = post("/api/show", Json{{"model", "none"}});
  EXPECT_EQ(unknown.status, 404);
  EXPECT_TRUE(unknown.json()["error"].is_string());
}

}  // namespace
}  // namespace heed::serve
