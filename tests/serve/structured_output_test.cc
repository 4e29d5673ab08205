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

TEST(StructuredOutput, HasTheOlderNamesOfVllmAndThoseOfLlamaCpp) {
  const Json boolean = {{"type", "boolean"}};
  for (const char* const name : {"guided_json", "json_schema"}) {
    EXPECT_TRUE(Json::parse(text_of({{name, boolean}})).is_boolean()) << name;
    EXPECT_TRUE(Json::parse(text_of({{name, boolean.dump()}})).is_boolean()) << name;
  }
  EXPECT_TRUE(std::regex_match(text_of({{"guided_regex", "[0-9]{3}"}}), std::regex("[0-9]{3}")));
  EXPECT_EQ(text_of({{"guided_choice", {"red"}}, {"guided_decoding_backend", "xgrammar"}}), "red");
  for (const char* const name : {"guided_grammar", "grammar"})
    EXPECT_EQ(text_of({{name, R"(root ::= "x" [yz] ".")"}}).size(), 3u) << name;
  EXPECT_EQ(text_of({{"grammar", ""}, {"guided_choice", {"red"}}}), "red");
  EXPECT_TRUE(
      Json::parse(text_of({{"response_format", {{"type", "json_object"}, {"schema", boolean}}}}))
          .is_boolean());
}

TEST(StructuredOutput, WhiteSpaceIsLeftOutOnRequest) {
  const Json array = {
      {"items", {{"enum", {1, 2}}}}, {"type", "array"}, {"minItems", 5}, {"maxItems", 5}};
  const auto has_space = [&](const Json& more) {
    bool found = false;
    for (int seed = 1; seed < 6; ++seed) {
      Json request = more;
      request["seed"] = seed;
      // Enough for the white space.
      request["max_tokens"] = 1000;
      found = found || text_of(request).find_first_of(" \t\n\r") != std::string::npos;
    }
    return found;
  };
  const Json outputs = {{"json", array}, {"disable_any_whitespace", true}};
  EXPECT_FALSE(has_space({{"structured_outputs", outputs}}));
  EXPECT_FALSE(has_space({{"guided_json", array}, {"guided_whitespace_pattern", ""}}));
  EXPECT_TRUE(has_space({{"guided_json", array}, {"guided_whitespace_pattern", "[ \\n\\t\\r]*"}}));
  Json beside = json_schema(array);
  beside["structured_outputs"] = {{"disable_any_whitespace", true}};
  EXPECT_FALSE(has_space(beside));
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
  refuse({{"structured_outputs", {{"structural_tag", "a"}}}}, "structured_outputs.structural_tag");
  refuse({{"structured_outputs", {{"json_object", true}, {"disable_additional_properties", true}}}},
         "structured_outputs.disable_additional_properties");
  refuse({{"structured_outputs", {{"regex", "a"}, {"disable_any_whitespace", true}}}},
         "structured_outputs.disable_any_whitespace");
  refuse({{"guided_json", true}, {"guided_whitespace_pattern", " ?"}}, "guided_whitespace_pattern");
  refuse({{"guided_regex", "(a"}}, "guided_regex");
  refuse({{"guided_regex", ""}}, "guided_regex");
  refuse({{"json_schema", "{"}}, "json_schema");
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
  const Json unique = {{"properties", {{"a", {{"type", "array"}, {"uniqueItems", true}}}}}};
  expect_in(json_schema(unique),
            "response_format.json_schema.schema: uniqueItems at \"/properties/a");
  expect_in({{"structured_outputs", {{"regex", "(a"}}}}, "(");
  expect_in({{"structured_outputs", {{"regex", "a"}, {"choice", {"b"}}}}},
            "structured_outputs.choice is given beside structured_outputs.regex");
  Json both = json_schema({{"type", "string"}});
  both["structured_outputs"] = {{"regex", "a"}};
  expect_in(both, "structured_outputs.regex is given beside response_format.json_schema.schema");
  expect_in({{"grammar", "root ::= [a]"}, {"guided_json", true}}, "grammar is given beside guided");
  // The vocabulary of this model has no snowman.
  expect_in({{"structured_outputs", {{"regex", "☃"}}}}, "vocabulary");
}

}  // namespace
}  // namespace heed::serve
