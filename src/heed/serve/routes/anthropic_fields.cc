#include "heed/serve/routes/anthropic_fields.h"

#include <fmt/format.h>

#include <map>

#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/engine/chat_requests.h"
#include "heed/serve/fields/structured_output_fields.h"

namespace heed::serve {
namespace {

/// Reads content, which is a text or a list of blocks.
class BlockReader {
 public:
  /// The messages that blocks of one message of the API come to: results of tools are messages of
  /// their own.
  void read(const Json& json, const std::string& path);
  std::vector<ChatMessage> take() { return std::move(messages_); }

 private:
  void read_block(const Json& json, const std::string& path, const std::string& role);
  void read_tool_use(JsonFields& block);
  void read_tool_result(JsonFields& block);
  /// The message to add to: the last one if it has this role, since neighbours are one turn.
  ChatMessage& turn_of(const std::string& role);

  std::vector<ChatMessage> messages_;
  std::map<std::string, std::string> tools_;  // the functions of calls, by id
};

void add_line(std::string& text, const std::string& line) {
  if (!text.empty()) text += '\n';
  text += line;
}

std::string read_text_block(JsonFields& block) {
  block.ignore({"type", "cache_control", "citations"});
  std::string text = block.required_text("text");
  block.end();
  return text;
}

/// A text, or a list of blocks of text.
std::string read_texts_of_blocks(const Json& content, const std::string& path) {
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array())
    throw invalid_request(path, fmt::format("{} is neither a text nor a list of blocks", path));
  std::string text;
  for (size_t i = 0; i < content.size(); ++i) {
    JsonFields block(content[i], fmt::format("{}[{}]", path, i));
    block.one_of("type", {"text"});
    add_line(text, read_text_block(block));
  }
  return text;
}

ChatMessage& BlockReader::turn_of(const std::string& role) {
  if (messages_.empty() || messages_.back().role != role)
    messages_.push_back({.role = role, .content = ""});
  return messages_.back();
}

void BlockReader::read_tool_use(JsonFields& block) {
  block.ignore({"type", "cache_control", "caller"});
  ToolCall call{.id = block.required_text("id"),
                .name = block.required_text("name"),
                .arguments = dump_json(block.require("input"))};
  JsonFields input(block.require("input"), block.path_of("input"));  // must be an object
  block.end();
  tools_[call.id] = call.name;
  turn_of("assistant").tool_calls.push_back(std::move(call));
}

void BlockReader::read_tool_result(JsonFields& block) {
  block.ignore({"type", "cache_control", "is_error"});
  const std::string id = block.required_text("tool_use_id");
  const Json* const content = block.find("content");
  std::string text = content ? read_texts_of_blocks(*content, block.path_of("content")) : "";
  block.end();
  const auto name = tools_.find(id);
  if (name == tools_.end())
    throw invalid_request(block.path_of("tool_use_id"),
                          fmt::format("{} is {}, which no tool_use before it has as its id",
                                      block.path_of("tool_use_id"), quoted(id)));
  messages_.push_back(
      {.role = "tool", .content = std::move(text), .tool_call_id = id, .name = name->second});
}

void BlockReader::read_block(const Json& json, const std::string& path, const std::string& role) {
  JsonFields block(json, path);
  const bool assistant = role == "assistant";
  const std::string type =
      assistant ? block.one_of("type", {"text", "tool_use", "thinking", "redacted_thinking"})
                : block.one_of("type", {"text", "tool_result"});
  if (type == "text") add_line(turn_of(role).content, read_text_block(block));
  if (type == "tool_use") read_tool_use(block);
  if (type == "tool_result") read_tool_result(block);
  if (type == "thinking") {
    block.ignore({"type", "signature"});
    add_line(turn_of(role).reasoning_content, block.required_text("thinking"));
    block.end();
  }
}

void BlockReader::read(const Json& json, const std::string& path) {
  JsonFields message(json, path);
  const std::string role = message.one_of("role", {"user", "assistant"});
  message.require("role");
  const Json& content = message.require("content");
  const std::string place = message.path_of("content");
  message.end();
  if (content.is_string()) return add_line(turn_of(role).content, content.get<std::string>());
  if (!content.is_array() || content.empty())
    throw invalid_request(
        place, fmt::format("{} is neither a text nor a list with at least one block", place));
  for (size_t i = 0; i < content.size(); ++i)
    read_block(content[i], fmt::format("{}[{}]", place, i), role);
}

std::vector<ChatMessage> read_turns(JsonFields& fields) {
  const Json& list = fields.require("messages");
  if (!list.is_array() || list.empty())
    throw invalid_request("messages", "messages is not a list with at least one message");
  BlockReader reader;
  for (size_t i = 0; i < list.size(); ++i) reader.read(list[i], fmt::format("messages[{}]", i));
  std::vector<ChatMessage> messages = reader.take();
  if (messages.empty() || messages.back().role == "assistant")
    throw invalid_request("messages",
                          "messages ends with the assistant's, which heed does not continue; the "
                          "last message must be the user's");
  const Json* const system = fields.find("system");
  const std::string text = system ? read_texts_of_blocks(*system, "system") : "";
  if (!text.empty()) messages.insert(messages.begin(), {.role = "system", .content = text});
  return messages;
}

/// The tools as a JSON array in OpenAI's form; empty without any.
std::string read_anthropic_tools(JsonFields& fields) {
  const Json* const list = fields.find("tools");
  if (!list) return {};
  if (!list->is_array()) throw invalid_request("tools", "tools is not a list of tools");
  Json tools = Json::array();
  for (size_t i = 0; i < list->size(); ++i) {
    JsonFields tool = fields.inner((*list)[i], fmt::format("tools[{}]", i));
    tool.one_of("type", {"custom"});
    tool.ignore({"cache_control", "input_examples", "eager_input_streaming", "allowed_callers"});
    tool.only("defer_loading", false);
    Json function = {{"name", tool.required_text("name")}};
    if (const auto description = tool.text("description")) function["description"] = *description;
    function["parameters"] = tool.require("input_schema");
    if (tool.boolean("strict").value_or(false)) function["strict"] = true;
    tool.end();
    tools.push_back({{"type", "function"}, {"function", std::move(function)}});
  }
  return tools.empty() ? std::string() : dump_json(tools);
}

void read_anthropic_tool_choice(JsonFields& fields, ChatOptions& options) {
  if (!fields.find("tool_choice")) return;
  JsonFields choice = fields.inner("tool_choice");
  const std::string type = choice.one_of("type", {"auto", "any", "tool", "none"});
  if (type == "any") options.tool_choice = "required";
  if (type == "none") options.tool_choice = "none";
  if (type == "tool") options.tool_choice = choice.required_text("name");
  options.parallel_tool_calls = !choice.boolean("disable_parallel_tool_use").value_or(false);
  choice.end();
}

void read_anthropic_thinking(const Model& model, JsonFields& fields, ChatOptions& options) {
  if (!fields.find("thinking")) return;
  JsonFields thinking = fields.inner("thinking");
  const std::string type = thinking.one_of("type", {"enabled", "disabled", "adaptive"});
  thinking.ignore({"budget_tokens", "display"});
  thinking.end();
  if (!engine::set_thinking(options, type != "disabled", model)) fields.report_ignored("thinking");
}

/// {"type": "json_schema", "schema"}, in a field of its own or of output_config.
void read_output_format(const ModelCall& call, const Json& value, const std::string& path,
                        AnthropicPrompt& prompt) {
  JsonFields format(value, path);
  format.one_of("type", {"json_schema"});
  prompt.output = output_of_schema(call, format.require("schema"), format.path_of("schema"));
  format.end();
}

void read_output_config(const ModelCall& call, JsonFields& fields, AnthropicPrompt& prompt) {
  if (const Json* const format = fields.find("output_format"))
    read_output_format(call, *format, "output_format", prompt);
  if (!fields.find("output_config")) return;
  JsonFields config = fields.inner("output_config");
  if (config.find("effort")) {
    const std::string effort = config.one_of("effort", {"low", "medium", "high", "xhigh", "max"});
    const bool high = effort == "xhigh" || effort == "max";
    if (!engine::set_reasoning_effort(prompt.options, high ? "high" : effort, call.model()))
      config.report_ignored("effort");
  }
  if (const Json* const format = config.find("format"))
    read_output_format(call, *format, config.path_of("format"), prompt);
  config.ignore({"task_budget"});
  config.end();
}

}  // namespace

AnthropicPrompt read_anthropic_prompt(const ModelCall& call, JsonFields& fields) {
  AnthropicPrompt prompt;
  prompt.messages = read_turns(fields);
  prompt.options.tools = read_anthropic_tools(fields);
  read_anthropic_tool_choice(fields, prompt.options);
  read_anthropic_thinking(call.model(), fields, prompt.options);
  read_output_config(call, fields, prompt);
  fields.ignore({"model", "cache_control", "context_management", "speed"});
  fields.only("mcp_servers", Json::array());
  return prompt;
}

}  // namespace heed::serve
