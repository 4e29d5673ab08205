#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "heed/chat.h"

namespace heed::chat {

/// For a template that has no place for tools: adds their description, and the form in which to
/// call them (ToolCallFormat::hermes), to the system message, and turns calls and results of tools
/// into messages of assistants and users. Throws InputError, which begins with the place, when
/// arguments are not a JSON object.
std::vector<ChatMessage> describe_tools(std::vector<ChatMessage> messages,
                                        const nlohmann::ordered_json& tools);

}  // namespace heed::chat
