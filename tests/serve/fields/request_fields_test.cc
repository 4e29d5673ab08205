// What requests may have beside the fields of a route: neutral fields, other servers' spellings,
// fields that nobody knows.
#include "heed/server.h"
#include "tests/serve/completion_requests.h"

namespace heed::serve {
namespace {

const std::string kPath = "/v1/completions";
const Json kSampled = {
    {"model", "lm"}, {"prompt", "the old sea"}, {"max_tokens", 12}, {"temperature", 1.5}};

Json with(Json request, const Json& more) {
  request.update(more);
  return request;
}

std::string text_of(const Json& completion) { return completion["choices"][0]["text"]; }

TEST(RequestFields, UnknownOnesAreIgnoredByName) {
  const Answer answer = post(kPath, with(kSampled, {{"colour", "red"},
                                                    {"a\r\nX-Evil: b, c", 1},
                                                    {"stream_options", {{"chunk_colour", 1}}}}));
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.headers.at("x-heed-ignored"),
            "stream_options.chunk_colour, colour, a?r?nX-Evil??b??c");
  EXPECT_EQ(answer.headers.count("x-evil"), 0u);
  EXPECT_EQ(post(kPath, kSampled).headers.count("x-heed-ignored"), 0u);
}

TEST(RequestFields, AreNamedInAnAnswerThatIsStreamed) {
  const Answer answer = post(kPath, with(kSampled, {{"colour", "red"}, {"stream", true}}));
  EXPECT_EQ(answer.headers.at("x-heed-ignored"), "colour");
}

TEST(RequestFields, MisspeltOnesAreRefused) {
  for (const auto& [misspelt, known] :
       std::vector<std::pair<std::string, std::string>>{{"temprature", "temperature"},
                                                        {"max_token", "max_tokens"},
                                                        {"sede", "seed"},
                                                        {"sand", ""},
                                                        {"top_q", "top_k"}}) {
    const Answer answer = post(kPath, with(kSampled, {{misspelt, 1}}));
    EXPECT_EQ(answer.status, known.empty() ? 200 : 400) << misspelt;
    if (known.empty()) continue;
    EXPECT_EQ(answer.json()["error"]["param"], misspelt);
    EXPECT_NE(answer.body.find("did you mean " + known), std::string::npos) << answer.body;
  }
}

TEST(RequestFields, UnknownOnesAreRefusedWhereTheServerSaysSo) {
  ServerOptions options{.port = 0,
                        .models = {{.name = "lm", .path = RunningServer::shared().path_of("lm")}}};
  options.unknown_fields = UnknownFields::refuse;
  options.seed = 1;
  Server server(options);
  server.listen();
  server.load();
  HttpClient client(server.port());
  const auto ask = [&](const Json& request) {
    return client.request("POST", kPath, request.dump());
  };
  EXPECT_EQ(ask(with(kSampled, {{"colour", "red"}})).json()["error"]["param"], "colour");
  // Its seed is that of the program, which answers name.
  const Json answer = ask(kSampled).json();
  EXPECT_EQ(answer["seed"], 1);
  const Generation expected = RunningServer::shared().model("lm").generate(
      "the old sea", {.max_new_tokens = 12, .temperature = 1.5f});
  EXPECT_EQ(text_of(answer), expected.text);
}

TEST(RequestFields, NeutralValuesAreAcceptedAndOthersRefused) {
  const Answer answer = post(kPath, with(kSampled, {{"user", "u"},
                                                    {"metadata", {{"a", 1}}},
                                                    {"store", true},
                                                    {"service_tier", "auto"},
                                                    {"prediction", nullptr},
                                                    {"verbosity", "medium"},
                                                    {"mirostat", 0},
                                                    {"typical_p", 1.0},
                                                    {"cache_prompt", true},
                                                    {"bad_words", Json::array()},
                                                    {"t_max_predict_ms", -1}}));
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.headers.count("x-heed-ignored"), 0u);
  refused_each(kPath, kSampled,
               {{"verbosity", "high"},
                {"use_beam_search", true},
                {"bad_words", {"a"}},
                {"xtc_probability", 0.5},
                {"samplers", {"top_k"}}});
}

TEST(RequestFields, NumbersOfOtherServersMeanTheSame) {
  const Json greedy = with(kSampled, {{"temperature", 0}});
  const std::string text = text_of(posted(kPath, greedy));
  EXPECT_EQ(text_of(posted(kPath, with(kSampled, {{"top_p", 0}}))), text);
  Json other = with(greedy, {{"n_predict", 12}, {"top_k", -1}, {"repeat_penalty", 1.0}});
  other.erase("max_tokens");
  EXPECT_EQ(text_of(posted(kPath, other)), text);
  const Json penalized = posted(kPath, with(greedy, {{"repetition_penalty", 3}}));
  EXPECT_EQ(text_of(posted(kPath, with(greedy, {{"repeat_penalty", 3}}))), text_of(penalized));
  // Without a limit, until the context is full.
  other["n_predict"] = -1;
  const Json whole = posted(kPath, with(other, {{"ignore_eos", true}}));
  EXPECT_EQ(whole["choices"][0]["finish_reason"], "length");
  EXPECT_GE(whole["usage"]["total_tokens"], 64);
  const Json longest = posted(kPath, with(kSampled, {{"max_tokens", 9}, {"min_tokens", 9}}));
  EXPECT_EQ(longest["usage"]["completion_tokens"], 9);
}

TEST(RequestFields, WithoutASeedAnswersDifferAndCanBeHadAgain) {
  std::set<std::string> texts;
  for (int i = 0; i < 4; ++i) {
    const Json answer = posted(kPath, with(kSampled, {{"seed", i == 0 ? Json(-1) : Json()}}));
    ASSERT_TRUE(answer["seed"].is_number_unsigned()) << answer;
    EXPECT_LT(answer["seed"].get<uint64_t>(), uint64_t{1} << 53);
    texts.insert(text_of(answer));
    EXPECT_EQ(text_of(posted(kPath, with(kSampled, {{"seed", answer["seed"]}}))), text_of(answer));
  }
  EXPECT_GT(texts.size(), 1u);
  EXPECT_FALSE(posted(kPath, with(kSampled, {{"temperature", 0}})).contains("seed"));
  for (const Json& chunk : streamed(kPath, with(kSampled, {{"seed", 7}})))
    EXPECT_EQ(chunk["seed"], 7);
}

/// A server with a chat whose generation_config.json is this; empty: it has none.
Json chat_of(const std::string& generation_config, const Json& more) {
  const TemporaryDirectory directory;
  copy_model(RunningServer::shared().path_of("chat"), directory);
  std::filesystem::remove(directory / "generation_config.json");
  if (!generation_config.empty())
    write_quickly(directory / "generation_config.json", generation_config);
  Server server({.port = 0, .models = {{.name = "chat", .path = directory.path().string()}}});
  server.listen();
  server.load();
  const Json request = with(
      {{"messages", {{{"role", "user"}, {"content", "the sea"}}}}, {"max_tokens", 12}, {"seed", 5}},
      more);
  const Answer answer =
      HttpClient(server.port()).request("POST", "/v1/chat/completions", request.dump());
  EXPECT_EQ(answer.status, 200) << answer.body;
  return answer.json()["choices"][0]["message"]["content"];
}

TEST(RequestFields, ChatsSampleAsTheModelsFilesSay) {
  const Json usual = chat_of("", {{"temperature", 0.7}});
  EXPECT_EQ(chat_of("", Json::object()), usual);
  EXPECT_EQ(chat_of(R"({"eos_token_id": 2})", {{"temperature", nullptr}}), usual);
  const Json file = chat_of("", {{"temperature", 1.6}, {"top_k", 30}});
  EXPECT_EQ(chat_of(R"({"temperature": 1.6, "top_k": 30})", Json::object()), file);
  EXPECT_EQ(chat_of(R"({"temperature": 1.6})", {{"top_k", 30}}), file);
  const Json greedy = chat_of("", {{"temperature", 0}});
  EXPECT_EQ(chat_of(R"({"do_sample": false, "temperature": 1.6})", Json::object()), greedy);
  EXPECT_NE(file, greedy);
  EXPECT_NE(usual, file);
}

TEST(RequestFields, ReasoningEffortIsForTheTemplate) {
  const Json request = {
      {"model", "chat"}, {"messages", {{{"role", "user"}, {"content", "a"}}}}, {"max_tokens", 1}};
  Answer answer = post("/v1/chat/completions", with(request, {{"reasoning_effort", "high"}}));
  EXPECT_EQ(answer.headers.at("x-heed-ignored"), "reasoning_effort");
  answer = post("/v1/chat/completions", with(request, {{"reasoning", {{"effort", "low"}}}}));
  EXPECT_EQ(answer.headers.at("x-heed-ignored"), "reasoning");
  const TemporaryDirectory directory;
  copy_model(RunningServer::shared().path_of("chat"), directory);
  write_quickly(directory / "chat_template.jinja",
                "{{ reasoning_effort }} {% if enable_thinking %}the old {% endif %}"
                "{% for m in messages %}{{ m.content }}{% endfor %}");
  Server server({.port = 0, .models = {{.name = "chat", .path = directory.path().string()}}});
  server.listen();
  server.load();
  const auto tokens = [&](const Json& more) {
    const Answer found = HttpClient(server.port())
                             .request("POST", "/v1/chat/completions", with(request, more).dump());
    EXPECT_EQ(found.headers.count("x-heed-ignored"), 0u);
    return found.json()["usage"]["prompt_tokens"].get<int64_t>();
  };
  const int64_t none = tokens({{"reasoning_effort", "none"}});
  EXPECT_GT(tokens({{"reasoning_effort", "sea"}}), none);
  EXPECT_EQ(tokens({{"reasoning_effort", "sea"},
                    {"chat_template_kwargs",
                     {{"reasoning_effort", "none"}, {"enable_thinking", false}}}}),
            none);
}

}  // namespace
}  // namespace heed::serve
