#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/chat.h"

namespace heed::chat {

// What Mistral's and DeepSeek's models write around and within a call.
inline constexpr std::string_view kMistralCall = "[TOOL_CALLS]", kMistralArguments = "[ARGS]";
inline constexpr std::string_view kDeepseekCall = "<｜tool▁call▁begin｜>",
                                  kDeepseekCallEnd = "<｜tool▁call▁end｜>",
                                  kDeepseekSeparator = "<｜tool▁sep｜>";

/// Where calls of tools stand in an answer.
struct CallMarks {
  std::string_view begin;
  std::string_view end;  // empty: calls reach to the end of the answer
};
/// Those of a format; `begin` is empty for ToolCallFormat::none.
CallMarks call_marks(ToolCallFormat format);

/// Reads what stands between the marks. The calls have no ids. Nothing if any of them is malformed:
/// no JSON, no name, arguments that are not an object.
std::optional<std::vector<ToolCall>> read_calls(ToolCallFormat format, std::string_view text);

/// A call of the function `name`. Nothing unless `arguments` is a JSON object.
std::optional<ToolCall> read_call(std::string_view name, std::string_view arguments);

/// Where `mark` first stands outside of JSON strings, or npos.
size_t find_outside_strings(std::string_view text, std::string_view mark);

/// Where the first JSON value of `text` ends, or npos if it does not end in the text.
size_t end_of_json(std::string_view text);

}  // namespace heed::chat
