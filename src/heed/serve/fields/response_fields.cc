#include "heed/serve/fields/response_fields.h"

#include <algorithm>

#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/serve/api_error.h"
#include "heed/serve/fields/chat_fields.h"

namespace heed::serve {
namespace {

/// A text, or a list of parts with a text.
std::string read_parts(JsonFields& item, const char* name,
                       std::initializer_list<const char*> types) {
  const Json& content = item.require(name);
  if (!content.is_array()) return item.required_text(name);
  std::string text;
  for (size_t i = 0; i < content.size(); ++i) {
    JsonFields part = item.inner(content[i], fmt::format("{}[{}]", item.path_of(name), i));
    const std::string type = part.one_of("type", types);
    part.ignore({"annotations", "logprobs"});
    if (i > 0) text += '\n';
    text += part.required_text(type == "refusal" ? "refusal" : "text");
    part.end();
  }
  return text;
}

/// Collects the messages of items, several of which may be one message of an assistant: what it
/// thought, what it said, and its calls.
class Messages {
 public:
  explicit Messages(const std::optional<std::string>& instructions) {
    if (instructions) list_.push_back({.role = "system", .content = *instructions});
  }

  void add(JsonFields& item) {
    const std::string type =
        item.one_of("type", {"message", "reasoning", "function_call", "function_call_output"});
    item.ignore({"id", "status"});
    if (type == "message") add_message(item);
    if (type == "reasoning") add_reasoning(item);
    if (type == "function_call") add_call(item);
    if (type == "function_call_output") add_result(item);
    item.end();
  }

  std::vector<ChatMessage> take() { return std::move(list_); }

 private:
  /// The message of an assistant that the next item continues.
  ChatMessage& assistant() {
    if (list_.empty() || list_.back().role != "assistant")
      list_.push_back({.role = "assistant", .content = {}});
    return list_.back();
  }

  void add_message(JsonFields& item) {
    item.ignore({"phase"});
    std::string role = item.one_of("role", {"user", "assistant", "system", "developer"});
    std::string text =
        read_parts(item, "content", {"input_text", "output_text", "text", "refusal"});
    const bool continues = role == "assistant" && !list_.empty() &&
                           list_.back().role == "assistant" && list_.back().content.empty() &&
                           list_.back().tool_calls.empty();
    if (continues)
      list_.back().content = std::move(text);
    else
      list_.push_back({.role = std::move(role), .content = std::move(text)});
  }

  void add_reasoning(JsonFields& item) {
    item.only("encrypted_content", Json());
    item.ignore({"summary"});
    if (!item.find("content")) return;
    list_.push_back({.role = "assistant",
                     .content = {},
                     .reasoning_content = read_parts(item, "content", {"reasoning_text"})});
  }

  void add_call(JsonFields& item) {
    item.ignore({"namespace"});
    assistant().tool_calls.push_back({.id = item.required_text("call_id"),
                                      .name = item.required_text("name"),
                                      .arguments = item.required_text("arguments")});
  }

  void add_result(JsonFields& item) {
    const std::string id = item.required_text("call_id");
    ChatMessage result{.role = "tool",
                       .content = read_parts(item, "output", {"input_text", "output_text", "text"}),
                       .tool_call_id = id};
    for (const ChatMessage& message : list_)
      for (const ToolCall& call : message.tool_calls)
        if (call.id == id) result.name = call.name;
    if (result.name.empty())
      throw invalid_request(item.path_of("call_id"),
                            fmt::format("{} is {}, which no function_call before it has",
                                        item.path_of("call_id"), quoted(id)));
    list_.push_back(std::move(result));
  }

  std::vector<ChatMessage> list_;
};

/// A tool in the form of a chat: its fields are in "function".
Json chat_tool(const JsonFields& fields, const Json& tool, const std::string& path) {
  JsonFields own = fields.inner(tool, path);
  own.one_of("type", {"function"});
  Json function = {{"name", own.required_text("name")}};
  for (const char* const name : {"description", "parameters", "strict"})
    if (const Json* const value = own.find(name)) function[name] = *value;
  own.end();
  return {{"type", "function"}, {"function", std::move(function)}};
}

}  // namespace

std::vector<ChatMessage> read_response_input(JsonFields& fields) {
  const std::optional<std::string> instructions = fields.text("instructions");
  const Json& input = fields.require("input");
  Messages messages(instructions);
  if (!input.is_array()) {
    std::vector<ChatMessage> list = messages.take();
    list.push_back({.role = "user", .content = fields.required_text("input")});
    return list;
  }
  if (input.empty()) throw invalid_request("input", "input is empty");
  for (size_t i = 0; i < input.size(); ++i) {
    JsonFields item = fields.inner(input[i], fmt::format("input[{}]", i));
    messages.add(item);
  }
  return messages.take();
}

ChatOptions read_response_tools(JsonFields& fields) {
  ChatOptions options;
  if (const Json* const tools = fields.find("tools")) {
    if (!tools->is_array()) throw invalid_request("tools", "tools is not a list of functions");
    Json list = Json::array();
    for (size_t i = 0; i < tools->size(); ++i)
      list.push_back(chat_tool(fields, (*tools)[i], fmt::format("tools[{}]", i)));
    if (!list.empty()) options.tools = dump_json(list);
  }
  options.tool_choice = read_tool_choice(fields);
  options.parallel_tool_calls = fields.boolean("parallel_tool_calls").value_or(true);
  return options;
}

}  // namespace heed::serve
