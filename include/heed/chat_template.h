#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "heed/chat.h"
#include "heed/export.h"
#include "heed/tokenizer.h"

namespace heed {

/// Turns messages into prompts as Model::chat_prompt() does, without a model: the chat templates of
/// a model and its tokenizer. Immutable; copies share everything, and any number of threads may use
/// one at once.
class HEED_EXPORT ChatTemplate {
 public:
  /// Reads the chat templates of a model directory, a tokenizer_config.json, a chat_template.jinja
  /// or a GGUF file, and the tokenizer beside them. Throws Error when one of them is missing or
  /// damaged.
  static ChatTemplate load(const std::filesystem::path& path);
  /// The same with a tokenizer that is loaded already.
  static ChatTemplate load(const std::filesystem::path& path, const Tokenizer& tokenizer);
  /// Reads Jinja. Throws Error, with the line, on what Jinja does not allow.
  static ChatTemplate parse(const std::string& jinja, const Tokenizer& tokenizer);

  ChatTemplate(const ChatTemplate&) = default;
  ChatTemplate& operator=(const ChatTemplate&) = default;
  ~ChatTemplate();

  /// The prompt for the answer that follows the messages. What is said of Model::chat_prompt()
  /// holds here. Throws Error when there are no messages, when options are not JSON of the right
  /// kind, and when the template refuses the messages.
  ChatPrompt prompt(const std::vector<ChatMessage>& messages, const ChatOptions& options = {},
                    const ChatPrompt& earlier = {}) const;

  /// The tokenizer of its prompts.
  const Tokenizer& tokenizer() const;

 private:
  struct State;
  explicit ChatTemplate(std::shared_ptr<const State> state);

  std::shared_ptr<const State> state_;
};

}  // namespace heed
