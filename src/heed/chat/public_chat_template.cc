#include "heed/chat/chat_template.h"
#include "heed/chat_template.h"

namespace heed {

struct ChatTemplate::State {
  Tokenizer tokenizer;
  chat::ChatTemplates templates;
};

ChatTemplate::ChatTemplate(std::shared_ptr<const State> state) : state_(std::move(state)) {}

ChatTemplate::~ChatTemplate() = default;

ChatTemplate ChatTemplate::load(const std::filesystem::path& path) {
  const bool beside = path.extension() == ".json" || path.extension() == ".jinja";
  const std::filesystem::path directory = path.has_parent_path() ? path.parent_path() : ".";
  return load(path, Tokenizer::load(beside ? directory : path));
}

ChatTemplate ChatTemplate::load(const std::filesystem::path& path, const Tokenizer& tokenizer) {
  return ChatTemplate(std::make_shared<const State>(
      State{tokenizer, chat::ChatTemplates(path, text::unwrapped(tokenizer))}));
}

ChatTemplate ChatTemplate::parse(const std::string& jinja, const Tokenizer& tokenizer) {
  return ChatTemplate(std::make_shared<const State>(State{
      tokenizer, chat::ChatTemplates(chat::own_template(jinja, text::unwrapped(tokenizer)))}));
}

ChatPrompt ChatTemplate::prompt(const std::vector<ChatMessage>& messages,
                                const ChatOptions& options, const ChatPrompt& earlier) const {
  if (!options.chat_template.empty())
    return chat::own_template(options.chat_template, text::unwrapped(state_->tokenizer))
        .prompt(messages, options, earlier);
  return state_->templates.choose(options).prompt(messages, options, earlier);
}

const Tokenizer& ChatTemplate::tokenizer() const { return state_->tokenizer; }

}  // namespace heed
