#pragma once

#include <string>
#include <vector>

#include "heed/model.h"
#include "heed/serve/fields/json_fields.h"

namespace heed::serve {

/// What a request says of the prompt: "messages", "tools", "tool_choice", "chat_template_kwargs",
/// "reasoning_effort".
struct ChatFields {
  std::vector<ChatMessage> messages;
  ChatOptions options;
};
ChatFields read_chat(const Model& model, JsonFields& fields);

/// "tool_choice": a word, {"type": "function", "function": {"name": NAME}}, or {"type": "function",
/// "name": NAME} as OpenAI's responses have it.
std::string read_tool_choice(JsonFields& fields);

/// "reasoning_effort" or the "effort" of "reasoning", as the variables that the model's chat
/// template has: reasoning_effort; enable_thinking or thinking, which "none" makes false. A
/// template without these ignores it, which is reported.
void read_reasoning(const Model& model, JsonFields& fields, ChatOptions& options);

/// The prompt of messages. Throws ApiError which names the field that is wrong, or else `field`.
ChatPrompt make_prompt(const Model& model, const std::vector<ChatMessage>& messages,
                       const ChatOptions& options, const std::string& field);

/// The options to generate the answer with. Compiles what it must match, so that it is not done
/// where tokens are computed. Throws ApiError for what cannot be enforced.
GenerateOptions prepared_answer(const Model& model, const ChatPrompt& prompt,
                                const GenerateOptions& options);

/// Limits the answer to what is left of the context, and to the model's own default or
/// kDefaultAnswerTokens unless the request has a limit.
void set_answer_limit(GenerateOptions& options, const Model& model, const ChatPrompt& prompt);
constexpr int64_t kDefaultAnswerTokens = 2048;

}  // namespace heed::serve
