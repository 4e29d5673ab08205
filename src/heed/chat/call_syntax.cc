#include "heed/chat/call_syntax.h"

#include <nlohmann/json.hpp>

#include "heed/base/ascii.h"
#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/json_nesting.h"

namespace heed::chat {
namespace {

using Json = nlohmann::ordered_json;
using Calls = std::vector<ToolCall>;

constexpr std::string_view kMistralId = "[CALL_ID]";

/// Takes what precedes `mark`, which stands at `found`, off the front of `text`, and the mark; all
/// if there is no mark.
std::string_view take_until(std::string_view& text, std::string_view mark, size_t found) {
  const std::string_view taken = text.substr(0, found);
  text.remove_prefix(found == text.npos ? text.size() : found + mark.size());
  return taken;
}
std::string_view take_until(std::string_view& text, std::string_view mark) {
  return take_until(text, mark, text.find(mark));
}

std::optional<Json> parse(std::string_view text) {
  try {
    return parse_ordered_json(text, "");
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// The arguments as an object on one line; models may write the object as a string.
std::optional<std::string> arguments_text(const Json& arguments) {
  if (arguments.is_object()) return dump_json(arguments);
  if (!arguments.is_string()) return std::nullopt;
  const auto inner = parse(arguments.get_ref<const std::string&>());
  if (!inner || !inner->is_object()) return std::nullopt;
  return dump_json(*inner);
}

bool add_call(std::string_view name, std::string_view arguments, Calls& calls) {
  auto call = read_call(name, arguments);
  if (call) calls.push_back(std::move(*call));
  return call.has_value();
}

bool add_call(const Json& json, Calls& calls) {
  if (!json.is_object()) return false;
  const auto inner = json.find("function");
  if (inner != json.end() && inner->is_object()) return add_call(*inner, calls);
  const auto name = json.find("name");
  if (name == json.end() || !name->is_string() || name->get_ref<const std::string&>().empty())
    return false;
  std::optional<std::string> text = "{}";
  for (const char* key : {"arguments", "parameters"})
    if (const auto found = json.find(key); found != json.end()) text = arguments_text(*found);
  if (!text) return false;
  calls.push_back({.id = {}, .name = name->get<std::string>(), .arguments = *text});
  return true;
}

/// A JSON object, or a list of them.
bool add_calls(std::string_view text, Calls& calls) {
  const auto json = parse(text);
  if (!json || json->empty()) return false;
  if (!json->is_array()) return add_call(*json, calls);
  return std::ranges::all_of(*json, [&](const Json& call) { return add_call(call, calls); });
}

/// Objects one after the other, with semicolons, commas or white space between them.
bool read_llama(std::string_view text, Calls& calls) {
  for (text = trimmed(text); !text.empty();) {
    const size_t end = end_of_json(text);
    if (end == text.npos || !add_calls(text.substr(0, end), calls)) return false;
    text = trimmed(text.substr(end));
    if (text.starts_with(';') || text.starts_with(',')) text = trimmed(text.substr(1));
  }
  return !calls.empty();
}

/// A list; or for each call, NAME{...}, NAME[ARGS]{...} or NAME[CALL_ID]ID[ARGS]{...}, with
/// [TOOL_CALLS] between them.
bool read_mistral(std::string_view text, Calls& calls) {
  text = trimmed(text);
  if (text.starts_with('[')) return add_calls(text, calls);
  while (!text.empty()) {
    const size_t brace = text.find('{');
    if (brace == text.npos) return false;
    std::string_view name = text.substr(0, brace);
    name = take_until(name, kMistralArguments);
    name = trimmed(take_until(name, kMistralId));
    text.remove_prefix(brace);
    const size_t end = end_of_json(text);
    if (end == text.npos || !add_call(name, text.substr(0, end), calls)) return false;
    text = trimmed(text.substr(end));
    if (text.starts_with(kMistralCall)) text = trimmed(text.substr(kMistralCall.size()));
  }
  return !calls.empty();
}

/// Each call is "function<sep>NAME", a fenced block of JSON (V3, R1), or "NAME<sep>{...}" (V3.1).
bool read_deepseek(std::string_view text, Calls& calls) {
  while (!trimmed(text).empty()) {
    if (!trimmed(take_until(text, kDeepseekCall)).empty()) return false;
    std::string_view call =
        take_until(text, kDeepseekCallEnd, find_outside_strings(text, kDeepseekCallEnd));
    std::string_view name = trimmed(take_until(call, kDeepseekSeparator));
    call = trimmed(call);
    if (!call.starts_with('{')) {
      name = trimmed(take_until(call, "\n"));
      if (!call.starts_with("```json") || !call.ends_with("```") || call.size() < 10) return false;
      call = trimmed(call.substr(7, call.size() - 10));
    }
    if (!add_call(name, call, calls)) return false;
  }
  return !calls.empty();
}

}  // namespace

CallMarks call_marks(ToolCallFormat format) {
  switch (format) {
    case ToolCallFormat::none:
      return {};
    case ToolCallFormat::hermes:
      return {"<tool_call>", "</tool_call>"};
    case ToolCallFormat::llama:
      return {"<|python_tag|>", ""};
    case ToolCallFormat::mistral:
      return {kMistralCall, ""};
    case ToolCallFormat::deepseek:
      return {"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"};
  }
  return {};
}

std::optional<ToolCall> read_call(std::string_view name, std::string_view arguments) {
  const auto json = parse(arguments);
  if (name.empty() || !json || !json->is_object()) return std::nullopt;
  return ToolCall{.id = {}, .name = std::string(name), .arguments = dump_json(*json)};
}

size_t find_outside_strings(std::string_view text, std::string_view mark) {
  JsonNesting nesting;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!nesting.inside_string && text.substr(i).starts_with(mark)) return i;
    nesting.advance(text[i]);
  }
  return text.npos;
}

size_t end_of_json(std::string_view text) {
  JsonNesting nesting;
  for (size_t i = 0; i < text.size(); ++i) {
    nesting.advance(text[i]);
    const bool closes = text[i] == '}' || text[i] == ']';
    if (closes && !nesting.inside_string && nesting.depth <= 0) return i + 1;
  }
  return text.npos;
}

std::optional<Calls> read_calls(ToolCallFormat format, std::string_view text) {
  Calls calls;
  const bool read = [&] {
    switch (format) {
      case ToolCallFormat::none:
        return false;
      case ToolCallFormat::hermes:
        return add_calls(text, calls);
      case ToolCallFormat::llama:
        return read_llama(text, calls);
      case ToolCallFormat::mistral:
        return read_mistral(text, calls);
      case ToolCallFormat::deepseek:
        return read_deepseek(text, calls);
    }
    return false;
  }();
  if (!read) return std::nullopt;
  return calls;
}

}  // namespace heed::chat
