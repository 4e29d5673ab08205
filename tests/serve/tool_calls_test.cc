// Calls of tools that a request demands, of a model with random weights whose tokens are bytes.
#include "tests/serve/completion_requests.h"

namespace heed::serve {
namespace {

Json function(const std::string& name, const Json& parameters, bool strict = false) {
  return {{"type", "function"},
          {"function", {{"name", name}, {"parameters", parameters}, {"strict", strict}}}};
}

const Json kColour = {{"type", "object"},
                      {"properties", {{"colour", {{"enum", {"red", "green"}}}}}},
                      {"required", {"colour"}},
                      {"additionalProperties", false}};
const Json kNothing = {{"type", "object"}, {"additionalProperties", false}};

Json request_for_call(const Json& more) {
  Json request = {{"model", "bytes"},
                  {"messages", {{{"role", "user"}, {"content", "the sea"}}}},
                  {"tools", {function("paint", kColour), function("wait", kNothing)}},
                  {"temperature", 1.5},
                  {"seed", 9},
                  {"max_tokens", 700}};
  request.update(more);
  return request;
}

const std::string kPath = "/v1/chat/completions";

bool is_offered(const Json& call) {
  const Json arguments = Json::parse(call["function"]["arguments"].get<std::string>());
  if (call["function"]["name"] == "wait") return arguments == Json::object();
  return call["function"]["name"] == "paint" && arguments.size() == 1 &&
         (arguments["colour"] == "red" || arguments["colour"] == "green");
}

TEST(ToolCalls, RequiredOnesAreCallsOfOfferedFunctions) {
  for (int seed = 1; seed < 6; ++seed) {
    const Json choice = posted(kPath, request_for_call({{"tool_choice", "required"},
                                                        {"parallel_tool_calls", false},
                                                        {"seed", seed}}))["choices"][0];
    EXPECT_EQ(choice["finish_reason"], "tool_calls");
    ASSERT_EQ(choice["message"]["tool_calls"].size(), 1u) << choice;
    EXPECT_TRUE(is_offered(choice["message"]["tool_calls"][0])) << choice;
    EXPECT_EQ(choice["message"]["content"], "") << choice;
  }
}

TEST(ToolCalls, ANamedFunctionIsTheOneThatIsCalled) {
  for (const char* const name : {"paint", "wait"}) {
    const Json more = {{"tool_choice", {{"type", "function"}, {"function", {{"name", name}}}}},
                       {"parallel_tool_calls", false}};
    const Json message = posted(kPath, request_for_call(more))["choices"][0]["message"];
    EXPECT_EQ(message["tool_calls"][0]["function"]["name"], name);
    // A stream has the same call.
    Json streamed_calls = Json::array();
    for (const Json& chunk : streamed(kPath, request_for_call(more)))
      if (!chunk["choices"].empty() && chunk["choices"][0]["delta"].contains("tool_calls"))
        for (const Json& call : chunk["choices"][0]["delta"]["tool_calls"])
          streamed_calls.push_back(call["function"]);
    EXPECT_EQ(streamed_calls, Json::array({message["tool_calls"][0]["function"]}));
  }
}

TEST(ToolCalls, RequiredOnesAreCompletedWithinTheLimitOnRequest) {
  for (int seed = 1; seed < 6; ++seed) {
    const Json choice =
        posted(kPath, request_for_call({{"tool_choice", "required"},
                                        {"structured_outputs", {{"complete", true}}},
                                        {"parallel_tool_calls", false},
                                        {"max_tokens", 120},
                                        {"seed", seed}}))["choices"][0];
    EXPECT_EQ(choice["finish_reason"], "tool_calls");
    EXPECT_TRUE(is_offered(choice["message"]["tool_calls"][0])) << choice;
  }
}

TEST(ToolCalls, StrictOnesAndContentAreEnforcedWhenTheModelDecides) {
  const Json more = {{"tools", {function("paint", kColour, true)}},
                     {"structured_outputs", {{"choice", {"yes", "no"}}}},
                     {"parallel_tool_calls", false}};
  for (int seed = 1; seed < 9; ++seed) {
    Json request = request_for_call(more);
    request["seed"] = seed;
    const Json message = posted(kPath, request)["choices"][0]["message"];
    EXPECT_FALSE(message.contains("malformed_tool_call"));
    if (message.contains("tool_calls"))
      EXPECT_TRUE(is_offered(message["tool_calls"][0])) << message;
    else
      EXPECT_TRUE(message["content"] == "yes" || message["content"] == "no") << message;
  }
}

TEST(ToolCalls, WhatCannotBeDemandedIsRefused) {
  refused(kPath, request_for_call({{"tool_choice", "any"}}), "tool_choice");
  refused(kPath, request_for_call({{"tool_choice", "required"}, {"tools", nullptr}}),
          "tool_choice");
  refused(
      kPath,
      request_for_call({{"tool_choice", {{"type", "function"}, {"function", {{"name", "fly"}}}}}}),
      "tool_choice");
  refused(kPath, request_for_call({{"tool_choice", {{"type", "function"}}}}), "tool_choice.name");
  refused(kPath, request_for_call({{"parallel_tool_calls", 1}}), "parallel_tool_calls");
  const Json error = refused(kPath,
                             request_for_call({{"tool_choice", "required"},
                                               {"tools", {function("fly", {{"type", "array"}})}}}),
                             "tools");
  EXPECT_TRUE(error["message"].get<std::string>().starts_with("tools: the parameters of \"fly\""))
      << error;
}

}  // namespace
}  // namespace heed::serve
