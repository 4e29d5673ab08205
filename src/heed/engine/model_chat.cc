#include "heed/base/error.h"
#include "heed/engine/loaded_model.h"
#include "heed/model.h"

namespace heed {

bool Model::has_chat_template() const { return loaded_->chat_templates.has_value(); }

void Model::require_chat_template() const { loaded_->chat_templates.value(); }

ChatPrompt Model::chat_prompt(const std::vector<ChatMessage>& messages, const ChatOptions& options,
                              const ChatPrompt& earlier) const {
  if (!options.chat_template.empty())
    return chat::own_template(options.chat_template, loaded_->shared_tokenizer("chat"))
        .prompt(messages, options, earlier);
  const chat::ChatTemplates& templates = loaded_->chat_templates.value();
  return templates.choose(options).prompt(messages, options, earlier);
}

ChatResult Model::chat(const std::vector<ChatMessage>& messages, const GenerateOptions& generate,
                       const ChatOptions& options, const OnAnswer& on_answer) const {
  const ChatPrompt prompt = chat_prompt(messages, options);
  AnswerReader reader(prompt.answer, messages.size());
  ChatResult result;
  const auto report = [&](const ChatAnswer& part) {
    result.answer.add(part);
    if (on_answer && !part.empty()) on_answer(part);
  };
  result.generation = this->generate(prompt.tokens, answer_options(prompt, generate),
                                     [&](std::string_view text) { report(reader.feed(text)); });
  report(reader.finish());
  return result;
}

}  // namespace heed
