#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/chat.h"

namespace heed::chat {

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

/// Where the first JSON value of `text` ends, or npos if it does not end in the text.
size_t end_of_json(std::string_view text);

}  // namespace heed::chat
