#include "heed/chat/messages.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"

namespace heed::chat {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json, const char* key, const std::string& where) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return {};
  require(found->is_string(), "{}: {} is {}, expected a string", where, key, excerpt(*found));
  return found->get<std::string>();
}

std::string part_text(const Json& part, const std::string& where) {
  if (part.is_string()) return part.get<std::string>();
  require(part.is_object(), "{}: a part of content is {}, expected an object", where,
          excerpt(part));
  const std::string type = text_of(part, "type", where);
  require(type == "text", "{}: content has a part of type {}, expected text alone", where,
          quoted(type));
  return text_of(part, "text", where);
}

std::string read_content(const Json& json, const std::string& where) {
  const auto found = json.find("content");
  if (found == json.end() || !found->is_array()) return text_of(json, "content", where);
  std::string content;
  for (const Json& part : *found) {
    if (&part != &found->front()) content += '\n';
    content += part_text(part, where);
  }
  return content;
}

ToolCall read_call(const Json& json, const std::string& where) {
  require(json.is_object(), "{}: a tool call is {}, expected an object", where, excerpt(json));
  const auto inner = json.find("function");
  const Json& function = inner == json.end() ? json : *inner;
  require(function.is_object(), "{}: the function of a tool call is {}, expected an object", where,
          excerpt(function));
  ToolCall call{.id = text_of(json, "id", where),
                .name = text_of(function, "name", where),
                .arguments = "{}"};
  require(!call.name.empty(), "{}: a tool call has no name", where);
  const auto arguments = function.find("arguments");
  if (arguments == function.end() || arguments->is_null()) return call;
  call.arguments = arguments->is_string() ? arguments->get<std::string>() : dump_json(*arguments);
  return call;
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

ChatMessage read_message(const Json& json, const std::string& where) {
  require(json.is_object(), "{} is {}, expected an object", where, excerpt(json));
  ChatMessage message;
  message.role = text_of(json, "role", where);
  require(!message.role.empty(), "{}: role is missing", where);
  message.content = read_content(json, where);
  for (const char* key : {"thinking", "reasoning", "reasoning_content"})
    if (std::string text = text_of(json, key, where); !text.empty())
      message.reasoning_content = std::move(text);
  message.tool_call_id = text_of(json, "tool_call_id", where);
  message.name = text_of(json, "name", where);
  const auto calls = json.find("tool_calls");
  if (calls == json.end() || calls->is_null()) return message;
  require(calls->is_array(), "{}: tool_calls is {}, expected a list", where, excerpt(*calls));
  for (const Json& call : *calls) message.tool_calls.push_back(read_call(call, where));
  return message;
}

std::vector<ChatMessage> read_messages(const Json& json, const std::string& where) {
  const bool nested = json.is_object() && json.contains("messages");
  const Json& list = nested ? json["messages"] : json;
  require(list.is_array(), "{}: found {}, expected a list of messages", where, excerpt(list));
  std::vector<ChatMessage> messages;
  for (const Json& message : list)
    messages.push_back(
        read_message(message, fmt::format("{}: message {}", where, messages.size() + 1)));
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

Json to_template(const ChatMessage& message, const std::string& where) {
  Json json = without_calls(message);
  if (!message.reasoning_content.empty()) json["thinking"] = message.reasoning_content;
  for (const ToolCall& call : message.tool_calls) {
    const std::string place = fmt::format("{}: arguments of {}", where, quoted(call.name));
    Json arguments = parse_ordered_json(call.arguments, place);
    require(arguments.is_object(), "{}: found {}, expected an object", place, excerpt(arguments));
    json["tool_calls"].push_back(call_json(call, std::move(arguments)));
  }
  return json;
}

}  // namespace heed::chat

namespace heed {

std::vector<ChatMessage> read_chat_messages(std::string_view json, const std::string& source) {
  return chat::read_messages(parse_ordered_json(json, source), source);
}

std::string write_chat_messages(const std::vector<ChatMessage>& messages, int indent) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const ChatMessage& message : messages) json.push_back(chat::to_json(message));
  return dump_json(json, {.indent = indent, .replace_invalid = true});
}

}  // namespace heed
