#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "heed/chat.h"

namespace heed::chat {

/// One message from JSON; `where` names it in messages. Throws Error as read_chat_messages() does.
ChatMessage read_message(const nlohmann::ordered_json& json, const std::string& where);
/// Messages from a JSON array or an object with a member "messages".
std::vector<ChatMessage> read_messages(const nlohmann::ordered_json& json,
                                       const std::string& where);

/// The message as OpenAI's API has it: a call's arguments are a string.
nlohmann::ordered_json to_json(const ChatMessage& message);
/// The message as chat templates expect it: a call's arguments are an object, and reasoning is
/// there under both names that templates use, reasoning_content and thinking. Throws Error, which
/// begins with `where`, when arguments are not a JSON object.
nlohmann::ordered_json to_template(const ChatMessage& message, const std::string& where);

/// The calls as OpenAI's API has them.
nlohmann::ordered_json to_json(const std::vector<ToolCall>& calls);

}  // namespace heed::chat
