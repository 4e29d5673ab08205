#pragma once

#include <string>
#include <vector>

namespace heed {

/// The form in which a family of models writes the calls of tools.
enum class ToolCallFormat {
  none,
  hermes,    // <tool_call>{"name": ..., "arguments": {...}}</tool_call>, or a list (SmolLM2)
  llama,     // {"name": ..., "parameters": {...}} as the whole answer, or after <|python_tag|>
  mistral,   // [TOOL_CALLS] and a list, or a name and its arguments
  deepseek,  // <｜tool▁call▁begin｜> ... <｜tool▁call▁end｜>
};

/// A function that an answer may call.
struct OfferedTool {
  std::string name;             // in a call
  std::string parameters = {};  // a JSON Schema; empty: any object
  bool strict = false;          // whether arguments must match it even if no call is demanded

  bool operator==(const OfferedTool&) const = default;
};

/// How the text of an answer is to be read, and which calls it must or may have.
struct AnswerFormat {
  ToolCallFormat tool_calls = ToolCallFormat::none;  // how they are written
  std::vector<OfferedTool> tools = {};               // that the answer may call
  bool must_call = false;                            // the answer is calls of them, and no text
  bool parallel_tool_calls = true;                   // it may have several calls
  /// What surrounds reasoning; empty: the model does not show any.
  std::string reasoning_begin = {}, reasoning_end = {};
  bool begins_with_reasoning = false;  // the prompt ends with reasoning_begin
  /// Reasoning, content and calls are messages in channels (gpt-oss); tool_calls and the marks
  /// around reasoning do not apply.
  bool channels = false;

  bool operator==(const AnswerFormat&) const = default;
};

}  // namespace heed
