#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/answer_format.h"
#include "heed/export.h"
#include "heed/generation.h"

namespace heed {

/// A call of a function that a model asks for.
struct ToolCall {
  std::string id;         // chosen by heed; the message with the result repeats it
  std::string name;       // of the function
  std::string arguments;  // a JSON object
};

/// One message of a conversation, with the fields of OpenAI's API.
struct ChatMessage {
  /// "system", "user", "assistant", "tool"; or "developer", which is "system" to a template that
  /// does not name it.
  std::string role;
  std::string content;                       // the text
  std::string reasoning_content = {};        // what an assistant thought before its answer
  std::vector<ToolCall> tool_calls = {};     // of an assistant
  std::string tool_call_id = {}, name = {};  // of the result of a tool: the call and its function
};

/// Reads a JSON array of messages, or an object with a member "messages", as OpenAI's API has them:
/// content is a string, null or a list of parts of type "text", which are joined by line ends.
/// `source` names the text in messages. Throws InputError, which names the place
/// ("messages[0].role"), on anything else: on images and sounds, and on fields that it does not
/// know.
HEED_EXPORT std::vector<ChatMessage> read_chat_messages(std::string_view json,
                                                        const std::string& source = "messages");
/// The messages as a JSON array with `indent` spaces per level, or on one line.
HEED_EXPORT std::string write_chat_messages(const std::vector<ChatMessage>& messages,
                                            int indent = -1);

/// How messages become a prompt.
struct ChatOptions {
  /// Functions that the model may call: a JSON array in OpenAI's form; empty: none.
  std::string tools = {};
  /// "auto": the model decides; "none": the functions are not offered; "required": the answer is
  /// calls of functions; the name of a function: it is a call of that one. Calls that are demanded,
  /// and those of a function with "strict", have arguments that match its "parameters".
  std::string tool_choice = "auto";
  bool parallel_tool_calls = true;  // whether an answer may have several calls
  /// Further variables of the template: a JSON object such as {"enable_thinking": false}; empty:
  /// none.
  std::string chat_template_kwargs = {};
  /// Ends the prompt where the assistant's answer begins.
  bool add_generation_prompt = true;
  /// Recognises control tokens, such as <|im_end|>, in the contents of messages too. Whoever writes
  /// a message can then end it and write the next ones in any role.
  bool control_tokens_in_messages = false;
  /// Jinja to use instead of the model's own chat template; empty: the model's own.
  std::string chat_template = {};

  bool operator==(const ChatOptions&) const = default;
};

/// Reads messages as read_chat_messages() does. "tools" and "chat_template_kwargs" of an object
/// replace those of `options`.
HEED_EXPORT std::vector<ChatMessage> read_chat_request(std::string_view json,
                                                       const std::string& source,
                                                       ChatOptions& options);

/// A prompt made of messages.
struct ChatPrompt {
  std::string text;                 // what the chat template gives
  std::vector<int32_t> tokens;      // of the text
  std::vector<int32_t> end_tokens;  // end an answer, besides those of the model
  AnswerFormat answer;              // of the answer to this prompt
};

/// A part of an answer, or all of it.
struct ChatAnswer {
  std::string content, reasoning_content;  // the answer; what was thought before it
  std::vector<ToolCall> tool_calls;        // complete ones
  /// Whether something looks like a call and cannot be read as one; `content` holds it as it is.
  bool malformed_tool_call = false;

  /// Whether there is neither text nor a call.
  bool empty() const { return content.empty() && reasoning_content.empty() && tool_calls.empty(); }
  /// Appends a later part.
  HEED_EXPORT void add(const ChatAnswer& part);
};

/// Reads the text of an answer as it is generated: reasoning, content, calls of tools. The parts
/// together are the same for any division of the text.
class HEED_EXPORT AnswerReader {
 public:
  /// `id_seed` selects the ids of calls, which are distinct for distinct seeds: the number of
  /// messages before, for example.
  explicit AnswerReader(AnswerFormat format, uint64_t id_seed = 0);
  AnswerReader(AnswerReader&&) noexcept;
  AnswerReader& operator=(AnswerReader&&) noexcept;
  ~AnswerReader();

  /// Returns the parts that `text` makes certain; a call is reported once, when it is complete.
  ChatAnswer feed(std::string_view text);
  /// The rest.
  ChatAnswer finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The options to generate the answer to a prompt with: the prompt's end tokens end it, special
/// tokens stay in its text, where an AnswerReader may need them, and calls are as the prompt's
/// AnswerFormat demands. `structured_output` is what its content must match: reasoning may precede
/// it, and calls that are offered may come in its place.
HEED_EXPORT GenerateOptions answer_options(const ChatPrompt& prompt,
                                           const GenerateOptions& options = {});

/// An answer and how it was generated.
struct ChatResult {
  ChatAnswer answer;      // what it says
  Generation generation;  // its tokens, and why it ended
};

}  // namespace heed
