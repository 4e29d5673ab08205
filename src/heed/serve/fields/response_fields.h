#pragma once

#include <vector>

#include "heed/model.h"
#include "heed/serve/fields/json_fields.h"

namespace heed::serve {

/// The messages of "input" and "instructions" of OpenAI's responses. "input" is a text or a list of
/// items: messages, what a model has thought ("reasoning"), calls of functions and their results
/// ("function_call", "function_call_output").
std::vector<ChatMessage> read_response_input(JsonFields& fields);

/// "tools", "tool_choice" and "parallel_tool_calls" of OpenAI's responses, as those of a chat. Only
/// functions are offered.
ChatOptions read_response_tools(JsonFields& fields);

}  // namespace heed::serve
