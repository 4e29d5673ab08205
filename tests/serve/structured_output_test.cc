// Outputs that must match what response_format and structured_outputs ask for.
#include <regex>

#include "tests/serve/completion_requests.h"

namespace heed::serve {
namespace {

Json request_for(const std::string& model, const Json& more) {
  Json request = {
      {"model", model}, {"prompt", "the sea"}, {"temperature", 1.5}, {"max_tokens", 60}};
  request.update(more);
  return request;
}

/// The text of a completion by a model whose tokens are bytes.
std::string text_of(const Json& more) {
  const Json choice = posted("/v1/completions", request_for("bytes", more))["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "stop") << choice;
  return choice["text"];
}

Json json_schema(const Json& schema) {
  return {{"response_format",
           {{"type", "json_schema"}, {"json_schema", {{"name", "a"}, {"schema", schema}}}}}};
}

TEST(StructuredOutput, ATextMatchesItsSchema) {
  for (int seed = 1; seed < 6; ++seed) {
    Json more = json_schema({{"type", "array"},
                             {"items", {{"enum", {1, "b", nullptr}}}},
                             {"minItems", 2},
                             {"maxItems", 2}});
    more["seed"] = seed;
    const std::string text = text_of(more);
    const Json found = Json::parse(text);
    EXPECT_EQ(found.size(), 2u);
    for (const Json& item : found) EXPECT_TRUE(item == 1 || item == "b" || item.is_null()) << text;
  }
}

TEST(StructuredOutput, ATextMatchesARegexAChoiceOrAGrammar) {
  const auto text = [](const Json& one) { return text_of({{"structured_outputs", one}}); };
  EXPECT_TRUE(
      std::regex_match(text({{"regex", "[0-9]{3}-[a-f]{2}!"}}), std::regex("[0-9]{3}-[a-f]{2}!")));
  const std::string chosen = text({{"choice", {"red", "green"}}});
  EXPECT_TRUE(chosen == "red" || chosen == "green") << chosen;
  EXPECT_EQ(text({{"grammar", R"(root ::= "x" [yz] "." )"}}).size(), 3u);
  EXPECT_EQ(text({{"grammar", "start: \"x\" /[yz]/ \".\""}}).size(), 3u);
  EXPECT_TRUE(Json::parse(text({{"json", R"({"type": "boolean"})"}})).is_boolean());
}

Json chat_request(const Json& more) {
  Json request = request_for("chat", more);
  request.erase("prompt");
  request["messages"] = {{{"role", "user"}, {"content", "the sea"}}};
  return request;
}

TEST(StructuredOutput, AnAnswerOfAChatHasOneToo) {
  const Json choice =
      posted("/v1/chat/completions",
             chat_request({{"structured_outputs", {{"choice", {"the sea"}}}}}))["choices"][0];
  EXPECT_EQ(choice["message"]["content"], "the sea");
  EXPECT_EQ(choice["finish_reason"], "stop");
}

TEST(StructuredOutput, WrongFieldsAreNamed) {
  const auto refuse = [](const Json& more, const std::string& field) {
    refused("/v1/chat/completions", chat_request(more), field);
  };
  refuse({{"response_format", {{"type", "xml"}}}}, "response_format.type");
  refuse({{"response_format", {{"type", "json_schema"}, {"json_schema", {{"name", "a"}}}}}},
         "response_format.json_schema.schema");
  refuse({{"structured_outputs", {{"regex", 1}}}}, "structured_outputs.regex");
  refuse({{"structured_outputs", {{"regexp", "a"}}}}, "structured_outputs.regexp");
}

TEST(StructuredOutput, WhatCannotBeEnforcedIsRefused) {
  const auto message = [](const Json& more) {
    const auto answer = post("/v1/chat/completions", chat_request(more));
    EXPECT_EQ(answer.status, 400) << answer.body;
    return Json::parse(answer.body)["error"]["message"].get<std::string>();
  };
  const auto expect_in = [&](const Json& more, const char* part) {
    const std::string found = message(more);
    EXPECT_NE(found.find(part), found.npos) << found;
  };
  expect_in(json_schema({{"minLength", 3}, {"maxLength", 2}, {"type", "string"}}), "minLength");
  expect_in({{"structured_outputs", {{"regex", "(a"}}}}, "(");
  expect_in({{"structured_outputs", {{"regex", "a"}, {"choice", {"b"}}}}}, "found 2");
  Json both = json_schema({{"type", "string"}});
  both["structured_outputs"] = {{"regex", "a"}};
  expect_in(both, "beside response_format");
  // The vocabulary of this model has no snowman.
  expect_in({{"structured_outputs", {{"regex", "☃"}}}}, "vocabulary");
}

}  // namespace
}  // namespace heed::serve
