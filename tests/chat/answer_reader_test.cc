#include "heed/base/json.h"
#include "heed/chat.h"
#include "tests/base/fuzz.h"
#include "tests/base/testing.h"

namespace heed {
namespace {

struct Case {
  const char* name;
  AnswerFormat format;
  std::string text;
  std::string content, reasoning;
  std::vector<std::pair<std::string, std::string>> calls;  // name and arguments
  bool malformed = false;
};

AnswerFormat format(ToolCallFormat calls, bool begins_with_reasoning = false) {
  return {.tool_calls = calls,
          .tools = {{.name = "get_weather"}, {.name = "add"}},
          .reasoning_begin = "<think>",
          .reasoning_end = "</think>",
          .begins_with_reasoning = begins_with_reasoning};
}

const std::pair<std::string, std::string> kWeather{"get_weather", R"({"city":"Paris"})"},
    kAdd{"add", R"({"a":1.5,"b":[2,"</tool_call> [ARGS]"]})"};

std::vector<Case> plain_cases() {
  return {
      {"plain text",
       format(ToolCallFormat::none),
       " Hello <tool_call> world \n",
       " Hello <tool_call> world \n",
       "",
       {}},
      {"reasoning",
       format(ToolCallFormat::none),
       "<think>\nI see.\n</think>\n\nYes.\n",
       "Yes.\n",
       "I see.",
       {}},
      {"reasoning that the prompt begins",
       format(ToolCallFormat::none, true),
       "\nI see.\n\n</think>Yes.",
       "Yes.",
       "I see.",
       {}},
      {"reasoning that does not end", format(ToolCallFormat::none, true), "I see", "", "I see", {}},
      {"reasoning mark in the middle",
       format(ToolCallFormat::none),
       "a <think> b",
       "a <think> b",
       "",
       {}}};
}

std::vector<Case> hermes_cases() {
  return {
      {"nothing", format(ToolCallFormat::hermes), "", "", "", {}},
      {"white space alone", format(ToolCallFormat::hermes), " \n", " \n", "", {}},
      {"empty reasoning",
       format(ToolCallFormat::hermes),
       "<think>\n\n</think>\n\nNo.",
       "No.",
       "",
       {}},
      {"a call of Hermes",
       format(ToolCallFormat::hermes),
       "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": "
       "\"Paris\"}}\n</tool_call>",
       "",
       "",
       {kWeather}},
      {"text, reasoning and two calls of Hermes",
       format(ToolCallFormat::hermes),
       "<think>Both.</think>\nLet me see.\n<tool_call>{\"name\":\"get_weather\",\"arguments\":"
       "{\"city\":\"Paris\"}}</tool_call>\n<tool_call>{\"name\": \"add\", \"arguments\": "
       "{\"a\": 1.5, \"b\": [2, \"</tool_call> [ARGS]\"]}}</tool_call>\n",
       "Let me see.",
       "Both.",
       {kWeather, kAdd}},
      {"a list of SmolLM2",
       format(ToolCallFormat::hermes),
       "<tool_call>[{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}, {\"name\": "
       "\"add\", "
       "\"arguments\": {\"a\": 1.5, \"b\": [2, \"</tool_call> [ARGS]\"]}}]</tool_call>",
       "",
       "",
       {kWeather, kAdd}},
      {"a call of Hermes without its end",
       format(ToolCallFormat::hermes),
       "<tool_call>{\"name\": \"get_weather\", \"arguments\": \"{\\\"city\\\": \\\"Paris\\\"}\"}",
       "",
       "",
       {kWeather}},
      {"a call that is no JSON",
       format(ToolCallFormat::hermes),
       "So:\n<tool_call>get_weather(Paris)</tool_call> Done.",
       "So:\n<tool_call>get_weather(Paris)</tool_call> Done.",
       "",
       {},
       true},
      {"a call without a name",
       format(ToolCallFormat::hermes),
       "<tool_call>{\"arguments\": {}}</tool_call>",
       "<tool_call>{\"arguments\": {}}</tool_call>",
       "",
       {},
       true},
      {"a call whose arguments are a list",
       format(ToolCallFormat::hermes),
       "<tool_call>{\"name\": \"add\", \"arguments\": [1]}</tool_call>",
       "<tool_call>{\"name\": \"add\", \"arguments\": [1]}</tool_call>",
       "",
       {},
       true},
      {"a good call and a bad one",
       format(ToolCallFormat::hermes),
       "<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": "
       "\"Paris\"}}</tool_call>\n<tool_call>{",
       "\n<tool_call>{",
       "",
       {kWeather},
       true}};
}

std::vector<Case> llama_cases() {
  return {
      {"a call of Llama",
       format(ToolCallFormat::llama),
       "{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Paris\"}}",
       "",
       "",
       {kWeather}},
      {"two calls of Llama",
       format(ToolCallFormat::llama),
       "<|python_tag|>{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Paris\"}}; "
       "{\"type\": "
       "\"function\", \"name\": \"add\", \"parameters\": {\"a\": 1.5, \"b\": [2, \"</tool_call> "
       "[ARGS]\"]}}",
       "",
       "",
       {kWeather, kAdd}},
      {"an answer of Llama in JSON",
       format(ToolCallFormat::llama),
       "{\"name\": \"Paul\", \"age\": 3}",
       "{\"name\": \"Paul\", \"age\": 3}",
       "",
       {}},
      {"code of Llama",
       format(ToolCallFormat::llama),
       "<|python_tag|>print(1)",
       "<|python_tag|>print(1)",
       "",
       {},
       true},
      {"text of Llama",
       format(ToolCallFormat::llama),
       "In JSON: {\"name\": \"add\"}",
       "In JSON: {\"name\": \"add\"}",
       "",
       {}}};
}

std::vector<Case> mistral_cases() {
  return {
      {"a list of Mistral",
       format(ToolCallFormat::mistral),
       "[TOOL_CALLS] [{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}, \"id\": "
       "\"x\"}, "
       "{\"name\": \"add\", \"arguments\": {\"a\": 1.5, \"b\": [2, \"</tool_call> [ARGS]\"]}}]",
       "",
       "",
       {kWeather, kAdd}},
      {"calls of later Mistrals",
       format(ToolCallFormat::mistral),
       "I look.[TOOL_CALLS]get_weather[ARGS]{\"city\": "
       "\"Paris\"}[TOOL_CALLS]add[CALL_ID]123456789[ARGS]"
       "{\"a\": 1.5, \"b\": [2, \"</tool_call> [ARGS]\"]}",
       "I look.",
       "",
       {kWeather, kAdd}},
      {"calls of Mistral without marks between them",
       format(ToolCallFormat::mistral),
       "[TOOL_CALLS]get_weather{\"city\": \"Paris\"}add{}",
       "",
       "",
       {kWeather, {"add", "{}"}}},
      {"a malformed call of Mistral",
       format(ToolCallFormat::mistral),
       "[TOOL_CALLS]get_weather",
       "[TOOL_CALLS]get_weather",
       "",
       {},
       true}};
}

std::vector<Case> deepseek_cases() {
  return {
      {"calls of DeepSeek V3",
       format(ToolCallFormat::deepseek),
       "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{"
       "\"city\": "
       "\"Paris\"}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```"
       "json\n{\"a\": "
       "1.5, \"b\": [2, \"</tool_call> [ARGS]\"]}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
       "",
       "",
       {kWeather, kAdd}},
      {"a call of DeepSeek V3.1",
       format(ToolCallFormat::deepseek, true),
       "Hm.</think><｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{\"city\": "
       "\"Paris\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
       "",
       "Hm.",
       {kWeather}},
      {"a malformed call of DeepSeek",
       format(ToolCallFormat::deepseek),
       "<｜tool▁calls▁begin｜>get_weather<｜tool▁calls▁end｜>",
       "<｜tool▁calls▁begin｜>get_weather<｜tool▁calls▁end｜>",
       "",
       {},
       true}};
}

std::vector<Case> channel_cases() {
  AnswerFormat channels;
  channels.channels = true;
  return {{"content in a channel",
           channels,
           "<|channel|>final<|message|>Yes <b>.\n",
           "Yes <b>.\n",
           "",
           {}},
          {"reasoning and content in channels",
           channels,
           "<|channel|>analysis<|message|>I think so.<|end|><|start|>assistant<|channel|>final"
           "<|message|>Yes.<|return|>",
           "Yes.",
           "I think so.",
           {}},
          {"an announcement and two calls in channels",
           channels,
           "<|channel|>analysis<|message|>One.<|end|><|start|>assistant<|channel|>analysis"
           "<|message|>Two.<|end|><|start|>assistant<|channel|>commentary<|message|>Let me see."
           "<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather "
           "<|constrain|>json<|message|>{\"city\": \"Paris\"}<|call|><|start|>assistant "
           "to=functions.add<|channel|>commentary json<|message|>"
           "{\"a\": 1.5, \"b\": [2, \"</tool_call> [ARGS]\"]}<|call|>",
           "Let me see.",
           "One.\nTwo.",
           {kWeather, kAdd}},
          {"a call whose header the prompt begins",
           channels,
           " to=functions.get_weather<|channel|>commentary <|constrain|>json<|message|>"
           "{\"city\":\"Paris\"}",
           "",
           "",
           {kWeather}},
          {"a malformed call in a channel",
           channels,
           "<|channel|>commentary to=functions.add<|message|>{\"a\": <|call|>",
           "{\"a\": ",
           "",
           {},
           true},
          {"an answer without channels", channels, "Yes.", "Yes.", "", {}},
          {"a header that does not end", channels, "<|channel|>anal", "", "", {}}};
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& some : {plain_cases(), hermes_cases(), llama_cases(), mistral_cases(),
                           deepseek_cases(), channel_cases()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

void expect_answer(const ChatAnswer& answer, const Case& expected) {
  EXPECT_EQ(answer.content, expected.content);
  EXPECT_EQ(answer.reasoning_content, expected.reasoning);
  EXPECT_EQ(answer.malformed_tool_call, expected.malformed);
  ASSERT_EQ(answer.tool_calls.size(), expected.calls.size());
  for (size_t i = 0; i < expected.calls.size(); ++i) {
    EXPECT_EQ(answer.tool_calls[i].name, expected.calls[i].first);
    EXPECT_EQ(answer.tool_calls[i].arguments, expected.calls[i].second);
    EXPECT_EQ(answer.tool_calls[i].id.size(), 9u);
    for (size_t j = 0; j < i; ++j) EXPECT_NE(answer.tool_calls[i].id, answer.tool_calls[j].id);
  }
}

/// The text in parts of `size` bytes, or of random sizes.
template <typename Size>
ChatAnswer read_in_parts(const AnswerFormat& format, std::string_view text, Size&& size) {
  AnswerReader reader(format);
  ChatAnswer answer;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, size());
    answer.add(reader.feed(part));
    text.remove_prefix(part.size());
  }
  answer.add(reader.finish());
  return answer;
}

TEST(AnswerReader, ReadsEveryFormat) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    expect_answer(read_in_parts(one.format, one.text, [&] { return one.text.size(); }), one);
  }
}

TEST(AnswerReader, ReadsTheSameInParts) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    for (const size_t size : {1, 2, 3, 5, 7, 16})
      expect_answer(read_in_parts(one.format, one.text, [size] { return size; }), one);
  }
}

TEST(AnswerReader, ReportsTextThatIsCertainAtOnce) {
  AnswerReader reader(format(ToolCallFormat::hermes));
  EXPECT_EQ(reader.feed("Hello").content, "Hello");
  EXPECT_EQ(reader.feed(" wor").content, " wor");
  EXPECT_EQ(reader.feed("ld <tool").content, "ld");
  EXPECT_EQ(reader.feed("box>").content, " <toolbox>");
}

TEST(AnswerReader, GivesCallsOfOtherMessagesOtherIds) {
  const std::string text = R"(<tool_call>{"name": "add", "arguments": {}}</tool_call>)";
  const auto id = [&](uint64_t seed) {
    AnswerReader reader(format(ToolCallFormat::hermes), seed);
    return reader.feed(text).tool_calls.at(0).id;
  };
  EXPECT_EQ(id(1), id(1));
  EXPECT_NE(id(1), id(2));
}

TEST(FuzzAnswer, ReadsTheSameInAnyParts) {
  fuzz("answer", 20000, [&](uint64_t number, Dice& dice) {
    static const std::vector<Case> all = cases();
    const Case& one = all[number % all.size()];
    std::string text = one.text;
    for (size_t i = mutation_count(number, dice); i > 0; --i) mutate(text, dice);
    const ChatAnswer whole = read_in_parts(one.format, text, [&] { return text.size(); });
    const ChatAnswer parts = read_in_parts(one.format, text, [&] { return 1 + dice.below(9); });
    EXPECT_EQ(parts.content, whole.content) << text;
    EXPECT_EQ(parts.reasoning_content, whole.reasoning_content) << text;
    EXPECT_EQ(parts.malformed_tool_call, whole.malformed_tool_call);
    ASSERT_EQ(parts.tool_calls.size(), whole.tool_calls.size());
    for (size_t i = 0; i < whole.tool_calls.size(); ++i)
      EXPECT_EQ(parts.tool_calls[i].arguments, whole.tool_calls[i].arguments);
    if (whole.malformed_tool_call) throw Error("a malformed call");
  });
}

}  // namespace
}  // namespace heed
