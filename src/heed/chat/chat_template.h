#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "heed/chat.h"
#include "heed/chat/template_files.h"
#include "heed/jinja/template.h"
#include "heed/text/tokenizer.h"

namespace heed::chat {

/// A chat template and the tokenizer that its text is for.
class ChatTemplate {
 public:
  /// Parses a template. Throws Error as jinja::Template::parse() does.
  ChatTemplate(const StoredTemplate& stored, const text::Tokenizer& tokenizer);

  /// Whether the template's source has this word: a variable that it may use.
  bool mentions(std::string_view variable) const;

  /// The prompt for the answer that follows the messages. If its text begins with that of
  /// `earlier`, so do its tokens, where they can. Throws Error when there are no messages, when
  /// options are not JSON of the right kind, and when the template refuses the messages.
  ChatPrompt prompt(std::span<const ChatMessage> messages, const ChatOptions& options,
                    const ChatPrompt& earlier = {}) const;

  /// The tokens of a conversation, and which of them an assistant wrote: its contents, reasoning,
  /// calls, and the tokens that end its turns.
  struct Turns {
    std::vector<int32_t> tokens;
    std::vector<bool> assistant;  // for each token
  };
  /// Throws Error as prompt() does, and when the template neither marks what assistants write
  /// ({% generation %}) nor keeps a text the same when messages follow it.
  Turns turns(std::span<const ChatMessage> messages, const ChatOptions& options) const;

 private:
  /// The bytes of `whole` that assistants wrote.
  std::vector<jinja::Span> assistant_spans(std::span<const ChatMessage> messages,
                                           const ChatOptions& options,
                                           const jinja::Rendered& whole) const;
  jinja::Rendered render(std::span<const ChatMessage> messages, const ChatOptions& options) const;
  /// The messages with roles that the template knows. Throws InputError on any other role and on
  /// invalid UTF-8.
  std::vector<ChatMessage> checked(std::span<const ChatMessage> messages) const;
  /// The tokens of the text from a byte on.
  std::vector<int32_t> encode(const jinja::Rendered& rendered, const ChatOptions& options,
                              size_t begin = 0) const;
  std::vector<int32_t> encode_after(const ChatPrompt& earlier, const jinja::Rendered& rendered,
                                    const ChatOptions& options) const;
  AnswerFormat answer_format(const ChatOptions& options, const std::string& rendered) const;
  std::optional<int32_t> end_of_turn() const;

  std::string source_;
  text::Tokenizer tokenizer_;
  jinja::Template template_;
  std::unordered_set<int32_t> control_tokens_;
  std::vector<int32_t> end_tokens_;
};

/// A template that a caller gives as Jinja. Throws Error as ChatTemplate does.
ChatTemplate own_template(const std::string& source, const text::Tokenizer& tokenizer);

/// The chat templates of a model, read when it is loaded.
class ChatTemplates {
 public:
  explicit ChatTemplates(ChatTemplate only);
  /// Of a model directory, a tokenizer_config.json, a chat_template.jinja or a GGUF file. Throws
  /// Error when it has no chat template, and as ChatTemplate does.
  ChatTemplates(const std::filesystem::path& model, const text::Tokenizer& tokenizer);
  /// Those that were read from `model` (read_chat_templates()).
  ChatTemplates(std::span<const StoredTemplate> stored, const std::filesystem::path& model,
                const text::Tokenizer& tokenizer);

  /// The template for conversations with or without tools ("tool_use" or "default").
  const ChatTemplate& choose(const ChatOptions& options) const;

 private:
  std::optional<ChatTemplate> default_, tool_use_;
};

}  // namespace heed::chat
