#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "heed/chat.h"

namespace heed::chat {

/// The place of a message in errors: "messages[2]".
std::string place_of_message(size_t index);

/// Messages from a JSON array or an object with a member "messages". Throws InputError that begins
/// with `source` and the place: "chat.json: messages[2].content"; the source "messages" is left
/// out.
std::vector<ChatMessage> read_messages(const nlohmann::ordered_json& json,
                                       const std::string& source);

/// The message as OpenAI's API has it: a call's arguments are a string.
nlohmann::ordered_json to_json(const ChatMessage& message);
/// The message as chat templates expect it: a call's arguments are an object, and reasoning is
/// there under both names that templates use, reasoning_content and thinking. Throws InputError,
/// which begins with the `place` of the message, when arguments are not a JSON object.
nlohmann::ordered_json to_template(const ChatMessage& message, const std::string& place);

/// The calls as OpenAI's API has them.
nlohmann::ordered_json to_json(const std::vector<ToolCall>& calls);
/// The arguments of call `index` of a message as an object; empty ones are {}. Throws as
/// to_template().
nlohmann::ordered_json arguments_of(const ChatMessage& message, size_t index,
                                    const std::string& place);

}  // namespace heed::chat
