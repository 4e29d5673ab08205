#pragma once

#include <string>
#include <vector>

#include "heed/chat.h"
#include "heed/generation.h"
#include "heed/serve/services.h"

namespace heed::serve {

/// What a request of Anthropic's API says of the prompt and of what the answer must match:
/// "messages", "system", "tools", "tool_choice", "thinking", "output_config".
struct AnthropicPrompt {
  std::vector<ChatMessage> messages;
  ChatOptions options;
  StructuredOutput output;
};
/// Throws ApiError that names the field which is wrong or which heed does not offer.
AnthropicPrompt read_anthropic_prompt(const ModelCall& call, JsonFields& fields);

}  // namespace heed::serve
