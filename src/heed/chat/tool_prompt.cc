#include "heed/chat/tool_prompt.h"

#include <nlohmann/json.hpp>

#include "heed/base/json.h"
#include "heed/chat/messages.h"

namespace heed::chat {
namespace {

using Json = nlohmann::ordered_json;

std::string instructions(const Json& tools) {
  std::string text =
      "You can call functions. To call some, answer with nothing but a JSON list of the calls "
      "between <tool_call> and </tool_call>:\n"
      "<tool_call>[{\"name\": \"FUNCTION\", \"arguments\": {\"NAME\": VALUE}}]</tool_call>\n"
      "If no function helps, answer in words. The functions are:\n";
  for (const Json& tool : tools) text += dump_json(tool) + '\n';
  text.pop_back();
  return text;
}

std::string calls_text(const ChatMessage& message, size_t index) {
  const std::string place = place_of_message(index);
  Json list = Json::array();
  for (size_t i = 0; i < message.tool_calls.size(); ++i)
    list.push_back(
        {{"name", message.tool_calls[i].name}, {"arguments", arguments_of(message, i, place)}});
  return "<tool_call>" + dump_json(list) + "</tool_call>";
}

}  // namespace

std::vector<ChatMessage> describe_tools(std::vector<ChatMessage> messages, const Json& tools) {
  for (size_t i = 0; i < messages.size(); ++i) {
    ChatMessage& message = messages[i];
    if (!message.tool_calls.empty()) {
      message.content += calls_text(message, i);
      message.tool_calls.clear();
    }
    if (message.role == "tool")
      message = {.role = "user",
                 .content = "<tool_response>\n" + message.content + "\n</tool_response>"};
  }
  const std::string text = instructions(tools);
  if (!messages.empty() && messages.front().role == "system") {
    std::string& content = messages.front().content;
    content += (content.empty() ? "" : "\n\n") + text;
  } else {
    messages.insert(messages.begin(), {.role = "system", .content = text});
  }
  return messages;
}

}  // namespace heed::chat
