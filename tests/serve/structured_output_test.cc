// Outputs that must match what response_format and structured_outputs ask for.
#include <regex>

#include "tests/serve/completion_requests.h"

namespace heed::serve {
namespace {

Json chat_request(const Json& more) {
  Json request = {{"model", "chat"},
                  {"messages", {{{"role", "user"}, {"content", "the sea"}}}},
                  {"temperature", 1.5},
                  {"max_tokens", 40}};
  request.update(more);
  return request;
}

std::string answer_of(const Json& more) {
  const Json choice = posted("/v1/chat/completions", chat_request(more))["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "stop") << choice;
  return choice["message"]["content"];
}

Json json_schema(const Json& schema) {
  return {{"response_format",
           {{"type", "json_schema"}, {"json_schema", {{"name", "a"}, {"schema", schema}}}}}};
}

TEST(StructuredOutput, AnAnswerMatchesItsSchema) {
  for (int seed = 1; seed < 6; ++seed) {
    Json request = json_schema({{"type", "object"},
                                {"properties", {{"a", {{"enum", {1, 2, 3}}}}}},
                                {"required", {"a"}},
                                {"additionalProperties", false}});
    request["seed"] = seed;
    const Json answer = Json::parse(answer_of(request));
    EXPECT_EQ(answer.size(), 1u);
    EXPECT_TRUE(answer["a"] == 1 || answer["a"] == 2 || answer["a"] == 3) << answer;
  }
}

TEST(StructuredOutput, AnAnswerMatchesARegexAChoiceOrAGrammar) {
  const auto answer = [](const Json& one) { return answer_of({{"structured_outputs", one}}); };
  EXPECT_TRUE(
      std::regex_match(answer({{"regex", "[0-9]{3}-[a-f]+!"}}), std::regex("[0-9]{3}-[a-f]+!")));
  const std::string chosen = answer({{"choice", {"red", "green"}}});
  EXPECT_TRUE(chosen == "red" || chosen == "green") << chosen;
  EXPECT_EQ(answer({{"grammar", R"(root ::= "x" [yz] "." )"}}).size(), 3u);
  EXPECT_EQ(answer({{"grammar", "start: \"x\" /[yz]/ \".\""}}).size(), 3u);
  EXPECT_TRUE(Json::parse(answer({{"json", R"({"type": "boolean"})"}})).is_boolean());
}

TEST(StructuredOutput, ACompletionHasOneToo) {
  const Json choice =
      posted("/v1/completions", {{"model", "lm"},
                                 {"prompt", "the"},
                                 {"max_tokens", 20},
                                 {"structured_outputs", {{"regex", "(ab){4}"}}}})["choices"][0];
  EXPECT_EQ(choice["text"], "abababab");
  EXPECT_EQ(choice["finish_reason"], "stop");
}

TEST(StructuredOutput, WhatCannotBeEnforcedIsRefused) {
  const auto message = [](const Json& more) {
    const auto answer = post("/v1/chat/completions", chat_request(more));
    EXPECT_EQ(answer.status, 400) << answer.body;
    return answer.json()["error"]["message"].get<std::string>();
  };
  EXPECT_NE(message(json_schema({{"minLength", 3}, {"maxLength", 2}, {"type", "string"}}))
                .find("minLength"),
            std::string::npos);
  EXPECT_NE(message({{"structured_outputs", {{"regex", "(a"}}}}).find("(a"), std::string::npos);
  EXPECT_NE(message({{"structured_outputs", {{"regex", "a"}, {"choice", {"b"}}}}}).find("found 2"),
            std::string::npos);
  Json both = json_schema({{"type", "string"}});
  both["structured_outputs"] = {{"regex", "a"}};
  EXPECT_NE(message(both).find("beside response_format"), std::string::npos);
}

}  // namespace
}  // namespace heed::serve
