// Random answers that the grammar of an answer's format allows are read without a malformed call.
#include "heed/chat/answer_grammar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <random>

#include "heed/base/ascii.h"
#include "heed/chat.h"
#include "heed/constrain/constraint.h"
#include "heed/constrain/matcher.h"
#include "tests/base/testing.h"

namespace heed::chat {
namespace {

const char* const kMarks[] = {"<think>",
                              "</think>",
                              "<tool_call>",
                              "</tool_call>",
                              "<|python_tag|>",
                              "[TOOL_CALLS]",
                              "[ARGS]",
                              "<｜tool▁calls▁begin｜>",
                              "<｜tool▁calls▁end｜>",
                              "<｜tool▁call▁begin｜>",
                              "<｜tool▁call▁end｜>",
                              "<｜tool▁sep｜>",
                              "<|channel|>",
                              "<|message|>",
                              "<|end|>",
                              "<|start|>",
                              "<|constrain|>"};

/// A tokenizer of single characters and of the marks, which may be special tokens. Token 0 ends
/// an answer.
text::Tokenizer mark_tokenizer(bool special) {
  nlohmann::json vocabulary{{"</s>", 0}, {"\n", 1}, {"｜", 2}, {"▁", 3}};
  nlohmann::json added = nlohmann::json::array();
  const auto add = [&](const std::string& piece, bool is_special) {
    if (!vocabulary.contains(piece)) vocabulary[piece] = vocabulary.size();
    added.push_back({{"id", vocabulary[piece]},
                     {"content", piece},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", is_special}});
  };
  for (char c = ' '; c <= '~'; ++c) vocabulary[std::string(1, c)] = vocabulary.size();
  add("</s>", true);
  for (const char* mark : kMarks) add(mark, special);
  return text::Tokenizer::from_json(
      {{"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", nlohmann::json::array()}}},
       {"added_tokens", added},
       {"decoder", {{"type", "Fuse"}}}},
      "tokenizer.json");
}

std::shared_ptr<const constrain::Vocabulary> vocabulary_of(const text::Tokenizer& tokenizer) {
  std::vector<std::string> bytes;
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id)
    bytes.push_back(tokenizer.is_special(id) ? constrain::special_token_text(tokenizer.piece(id))
                                             : tokenizer.token_bytes(id));
  return constrain::Vocabulary::of(std::move(bytes), {0});
}

const std::vector<OfferedTool> kTools{
    {.name = "add",
     .parameters = R"({"type": "object", "additionalProperties": false, "required": ["a"],
                       "properties": {"a": {"type": "integer", "minimum": 0, "maximum": 99},
                                      "b": {"enum": ["</tool_call>", "<｜tool▁call▁end｜> <|end|>"]}}})",
     .strict = true},
    {.name = "get_time",
     .parameters = R"({"additionalProperties": false, "properties": {"zone": {"type": "null"}}})",
     .strict = true}};

struct Answers {
  const char* name;
  AnswerFormat format;
  bool content = false;  // it must be yes or no
};

std::vector<Answers> answers() {
  std::vector<Answers> all;
  const std::pair<const char*, ToolCallFormat> formats[] = {{"hermes", ToolCallFormat::hermes},
                                                            {"llama", ToolCallFormat::llama},
                                                            {"mistral", ToolCallFormat::mistral},
                                                            {"deepseek", ToolCallFormat::deepseek},
                                                            {"channels", ToolCallFormat::hermes}};
  for (const auto& [name, calls] : formats) {
    AnswerFormat format{.tool_calls = calls, .tools = kTools, .must_call = true};
    format.channels = std::string_view(name) == "channels";
    all.push_back({name, format});
    format.parallel_tool_calls = false;
    all.push_back({name, format});
    format.must_call = false;
    all.push_back({name, format});
    all.push_back({name, format, true});
    if (format.channels) continue;
    format.reasoning_begin = "<think>";
    format.reasoning_end = "</think>";
    all.push_back({name, format, true});
    format.begins_with_reasoning = true;
    all.push_back({name, format});
  }
  all.push_back(
      {"no tools",
       {.reasoning_begin = "<think>", .reasoning_end = "</think>", .begins_with_reasoning = true},
       true});
  return all;
}

/// A random text that a constraint allows; cut off if it is long.
std::string random_text(constrain::Matcher matcher, const text::Tokenizer& tokenizer,
                        std::mt19937& random, bool& ended) {
  std::string text;
  std::vector<uint64_t> mask(matcher.vocabulary().mask_words());
  for (int step = 0; step < 20000 && !ended; ++step) {
    matcher.mask(mask);
    std::vector<int32_t> allowed;
    for (size_t word = 0; word < mask.size(); ++word)
      for (uint64_t left = mask[word]; left != 0; left &= left - 1)
        allowed.push_back(static_cast<int32_t>(word * 64) + std::countr_zero(left));
    // A dead end would be an answer that cannot be ended.
    if (allowed.empty()) return text;
    const int32_t token = allowed[random() % allowed.size()];
    EXPECT_TRUE(matcher.accept(token));
    if (token != 0) text += tokenizer.piece(token);
    ended = token == 0 || matcher.is_complete();
  }
  return text;
}

bool is_call_of_tool(const ToolCall& call) {
  const auto arguments = nlohmann::json::parse(call.arguments);
  if (call.name == "add")
    return arguments.contains("a") && arguments["a"].is_number_integer() && arguments["a"] <= 99;
  return call.name == "get_time" && (arguments.empty() || arguments["zone"].is_null());
}

TEST(AnswerGrammar, WhatItAllowsIsReadWithoutAMalformedCall) {
  std::mt19937 random(7);
  for (const bool special : {false, true}) {
    const text::Tokenizer tokenizer = mark_tokenizer(special);
    const auto vocabulary = vocabulary_of(tokenizer);
    for (const Answers& one : answers()) {
      constrain::GrammarBuilder builder;
      std::optional<constrain::Symbol> content;
      const std::string choices[] = {"yes", "no"};
      if (one.content) content = constrain::add_choice(builder, choices);
      const constrain::Symbol start = add_answer(builder, one.format, tokenizer, content);
      const auto constraint =
          std::make_shared<const constrain::Constraint>(std::move(builder), start);
      size_t called = 0;
      for (int i = 0; i < 10; ++i) {
        bool ended = false;
        const std::string text =
            random_text(constrain::Matcher(constraint, vocabulary), tokenizer, random, ended);
        SCOPED_TRACE(fmt::format("{}: {}", one.name, text));
        ASSERT_TRUE(ended);
        AnswerReader reader(one.format);
        ChatAnswer answer = reader.feed(text);
        answer.add(reader.finish());
        EXPECT_FALSE(answer.malformed_tool_call);
        EXPECT_TRUE(std::ranges::all_of(answer.tool_calls, is_call_of_tool));
        const std::string said(trimmed(answer.content));
        EXPECT_TRUE(!one.format.must_call || (said.empty() && !answer.tool_calls.empty()));
        EXPECT_TRUE(one.format.parallel_tool_calls || answer.tool_calls.size() <= 1);
        EXPECT_TRUE(!one.content || !answer.tool_calls.empty() || said == "yes" || said == "no");
        called += answer.tool_calls.size();
      }
      EXPECT_TRUE(one.format.tools.empty() || called > 0) << one.name;
    }
  }
}

TEST(AnswerGrammar, NamesTheFunctionWhoseParametersCannotBeEnforced) {
  const text::Tokenizer tokenizer = mark_tokenizer(true);
  const auto add = [&](const std::string& parameters, bool strict) {
    constrain::GrammarBuilder builder;
    add_answer(builder,
               {.tool_calls = ToolCallFormat::hermes,
                .tools = {{.name = "f", .parameters = parameters, .strict = strict}}},
               tokenizer, {});
  };
  expect_error([&] { add(R"({"type": "array"})", true); }, "tools: the parameters of \"f\": ");
  expect_error([&] { add(R"({"properties": {"a": {"enum": []}}, "required": ["a"]})", true); },
               "tools: the parameters of \"f\": ");
  add(R"({"type": "array"})", false);
}

}  // namespace
}  // namespace heed::chat
