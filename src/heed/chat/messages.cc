#include "heed/chat/messages.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/ascii.h"
#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/chat/json_members.h"

namespace heed::chat {
namespace {

using Json = nlohmann::ordered_json;

std::string read_part(const Json& json, const std::string& place) {
  if (json.is_string()) return json.get<std::string>();
  JsonMembers part(json, place);
  const std::string type = part.text("type");
  // Those of OpenAI's responses, too.
  const bool refusal = type == "refusal";
  require_input(refusal || type == "text" || type == "input_text" || type == "output_text",
                "{} has the type {}, expected text alone", place, quoted(type));
  part.ignore({"annotations", "cache_control", "logprobs"});
  std::string text = part.text(refusal ? "refusal" : "text");
  part.refuse_others();
  return text;
}

std::string read_content(JsonMembers& message) {
  const Json* found = message.find("content");
  if (!found || !found->is_array()) return message.text("content");
  std::string content;
  for (size_t i = 0; i < found->size(); ++i) {
    if (i > 0) content += '\n';
    content += read_part((*found)[i], fmt::format("{}[{}]", message.place_of("content"), i));
  }
  return content;
}

/// {"id", "type": "function", "function": {"name", "arguments"}}, or the function alone.
ToolCall read_call(const Json& json, const std::string& place) {
  JsonMembers call(json, place);
  ToolCall result{.id = call.text("id"), .name = {}, .arguments = "{}"};
  const std::string type = call.text("type");
  require_input(type.empty() || type == "function", "{} is {}, expected \"function\"",
                call.place_of("type"), quoted(type));
  call.ignore({"index"});
  const auto read_function = [&](JsonMembers& function) {
    result.name = function.text("name");
    require_input(!result.name.empty(), "{} is missing", function.place_of("name"));
    if (const Json* arguments = function.find("arguments"))
      result.arguments =
          arguments->is_string() ? arguments->get<std::string>() : dump_json(*arguments);
    function.refuse_others();
  };
  if (const Json* inner = call.find("function")) {
    JsonMembers function(*inner, call.place_of("function"));
    read_function(function);
    call.refuse_others();
  } else {
    read_function(call);
  }
  return result;
}

ChatMessage read_message(const Json& json, const std::string& place) {
  JsonMembers fields(json, place);
  ChatMessage message;
  message.role = fields.text("role");
  require_input(!message.role.empty(), "{} is missing", fields.place_of("role"));
  message.content = read_content(fields);
  if (std::string refusal = fields.text("refusal"); message.content.empty())
    message.content = std::move(refusal);
  for (const char* key : {"thinking", "reasoning", "reasoning_content"})
    if (std::string text = fields.text(key); !text.empty())
      message.reasoning_content = std::move(text);
  message.tool_call_id = fields.text("tool_call_id");
  message.name = fields.text("name");
  if (const Json* calls = fields.find("tool_calls")) {
    const std::string list = fields.place_of("tool_calls");
    require_input(calls->is_array(), "{} is {}, expected a list", list, excerpt(*calls));
    for (size_t i = 0; i < calls->size(); ++i)
      message.tool_calls.push_back(read_call((*calls)[i], fmt::format("{}[{}]", list, i)));
  }
  // What clients send back of an answer, and what they keep beside a message, is not for the model.
  fields.ignore({"annotations", "cache_control", "created_at", "id", "malformed_tool_call",
                 "metadata", "parsed", "provider_specific_fields", "reasoning_details", "status",
                 "thinking_blocks", "timestamp"});
  fields.only_empty({"audio", "function_call", "images", "prefix"});
  fields.refuse_others();
  return message;
}

Json call_json(const ToolCall& call, Json arguments) {
  Json json = Json::object();
  if (!call.id.empty()) json["id"] = call.id;
  json["type"] = "function";
  json["function"] = {{"name", call.name}, {"arguments", std::move(arguments)}};
  return json;
}

Json without_calls(const ChatMessage& message) {
  Json json = {{"role", message.role}, {"content", message.content}};
  if (!message.reasoning_content.empty()) json["reasoning_content"] = message.reasoning_content;
  if (!message.tool_call_id.empty()) json["tool_call_id"] = message.tool_call_id;
  if (!message.name.empty()) json["name"] = message.name;
  return json;
}

}  // namespace

std::string place_of_message(size_t index) { return fmt::format("messages[{}]", index); }

std::vector<ChatMessage> read_messages(const Json& json, const std::string& source) {
  const std::string file = source == "messages" ? "" : source + ": ";
  const bool nested = json.is_object() && json.contains("messages");
  const Json& list = nested ? json["messages"] : json;
  require_input(list.is_array(), "{}messages is {}, expected a list of messages", file,
                excerpt(list));
  std::vector<ChatMessage> messages;
  for (const Json& message : list)
    messages.push_back(read_message(message, file + place_of_message(messages.size())));
  return messages;
}

Json to_json(const std::vector<ToolCall>& calls) {
  Json json = Json::array();
  for (const ToolCall& call : calls) json.push_back(call_json(call, call.arguments));
  return json;
}

Json to_json(const ChatMessage& message) {
  Json json = without_calls(message);
  if (!message.tool_calls.empty()) json["tool_calls"] = to_json(message.tool_calls);
  return json;
}

Json arguments_of(const ChatMessage& message, size_t index, const std::string& message_place) {
  const std::string& text = message.tool_calls[index].arguments;
  if (trimmed(text).empty()) return Json::object();
  const std::string place =
      fmt::format("{}.tool_calls[{}].function.arguments", message_place, index);
  Json arguments = blame_input([&] { return parse_ordered_json(text, place); });
  require_input(arguments.is_object(), "{} is {}, expected an object", place, excerpt(arguments));
  return arguments;
}

Json to_template(const ChatMessage& message, const std::string& place) {
  Json json = without_calls(message);
  if (!message.reasoning_content.empty()) json["thinking"] = message.reasoning_content;
  for (size_t i = 0; i < message.tool_calls.size(); ++i)
    json["tool_calls"].push_back(call_json(message.tool_calls[i], arguments_of(message, i, place)));
  return json;
}

}  // namespace heed::chat

namespace heed {

std::vector<ChatMessage> read_chat_messages(std::string_view json, const std::string& source) {
  return chat::read_messages(blame_input([&] { return parse_ordered_json(json, source); }), source);
}

std::vector<ChatMessage> read_chat_request(std::string_view json, const std::string& source,
                                           ChatOptions& options) {
  const chat::Json request = blame_input([&] { return parse_ordered_json(json, source); });
  if (request.is_object() && request.contains("tools")) options.tools = dump_json(request["tools"]);
  if (request.is_object() && request.contains("chat_template_kwargs"))
    options.chat_template_kwargs = dump_json(request["chat_template_kwargs"]);
  return chat::read_messages(request, source);
}

std::string write_chat_messages(const std::vector<ChatMessage>& messages, int indent) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const ChatMessage& message : messages) json.push_back(chat::to_json(message));
  return dump_json(json, {.indent = indent, .replace_invalid = true});
}

}  // namespace heed
