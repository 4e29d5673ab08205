#include "heed/serve/fields/chat_fields.h"

#include <algorithm>

#include "heed/base/json.h"
#include "heed/chat/messages.h"
#include "heed/engine/chat_requests.h"
#include "heed/error.h"
#include "heed/serve/api_error.h"

namespace heed::serve {
namespace {

/// An error that begins with the place of what is wrong, "messages[0].role is ...".
ApiError at_its_place(const InputError& error, const std::string& otherwise) {
  const std::string_view text = error.what();
  const std::string_view place = text.substr(0, text.find_first_of(": "));
  const bool named = place.starts_with("messages[") || place.starts_with("tools") ||
                     place.starts_with("tool_choice") || place.starts_with("chat_template_kwargs");
  return invalid_request(named ? std::string(place) : otherwise, error.what());
}

}  // namespace

std::string read_tool_choice(JsonFields& fields) {
  const Json* const value = fields.find("tool_choice");
  if (!value || value->is_string())
    return fields.one_of("tool_choice", {"auto", "none", "required"});
  JsonFields choice = fields.inner("tool_choice");
  choice.one_of("type", {"function"});
  std::string name;
  if (choice.find("function")) {
    JsonFields function = choice.inner("function");
    name = function.required_text("name");
    function.end();
  } else {
    name = choice.required_text("name");
  }
  choice.end();
  return name;
}

void read_reasoning(const Model& model, JsonFields& fields, ChatOptions& options) {
  std::string name = "reasoning_effort";
  std::optional<std::string> effort = fields.text(name);
  if (fields.find("reasoning")) {
    JsonFields reasoning = fields.inner("reasoning");
    if (auto inner = reasoning.text("effort")) {
      effort = std::move(inner);
      name = "reasoning";
    }
    reasoning.ignore({"summary", "generate_summary"});
    reasoning.end();
  }
  if (!effort) return;
  if (!engine::set_reasoning_effort(options, *effort, model)) fields.report_ignored(name);
}

ChatFields read_chat(const Model& model, JsonFields& fields) {
  ChatFields chat;
  const Json& messages = fields.require("messages");
  if (!messages.is_array() || messages.empty())
    throw invalid_request("messages", "messages is not a list with at least one message");
  try {
    chat.messages = chat::read_messages(messages, "messages");
  } catch (const InputError& error) {
    throw at_its_place(error, "messages");
  }
  if (const Json* tools = fields.find("tools")) {
    if (!tools->is_array()) throw invalid_request("tools", "tools is not a list of functions");
    if (!tools->empty()) chat.options.tools = dump_json(*tools);
  }
  chat.options.tool_choice = read_tool_choice(fields);
  chat.options.parallel_tool_calls = fields.boolean("parallel_tool_calls").value_or(true);
  if (const Json* variables = fields.find("chat_template_kwargs")) {
    if (!variables->is_object())
      throw invalid_request("chat_template_kwargs", "chat_template_kwargs is not an object");
    chat.options.chat_template_kwargs = dump_json(*variables);
  }
  read_reasoning(model, fields, chat.options);
  return chat;
}

ChatPrompt make_prompt(const Model& model, const std::vector<ChatMessage>& messages,
                       const ChatOptions& options, const std::string& field) {
  try {
    return model.chat_prompt(messages, options);
  } catch (const InputError& error) {
    throw at_its_place(error, field);
  }
}

GenerateOptions prepared_answer(const Model& model, const ChatPrompt& prompt,
                                const GenerateOptions& options) {
  GenerateOptions complete = answer_options(prompt, options);
  try {
    model.prepare(complete);
  } catch (const InputError& error) {
    throw at_its_place(error, "");
  }
  return complete;
}

void set_answer_limit(GenerateOptions& options, const Model& model, const ChatPrompt& prompt) {
  if (!options.max_new_tokens)
    options.max_new_tokens = model.max_new_tokens().value_or(kDefaultAnswerTokens);
  if (const int64_t context = model.context_length(); context > 0)
    options.max_new_tokens = std::max<int64_t>(
        1, std::min(*options.max_new_tokens, context - std::ssize(prompt.tokens)));
}

}  // namespace heed::serve
