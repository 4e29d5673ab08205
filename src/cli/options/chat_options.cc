#include "cli/options/chat_options.h"

#include "heed/base/file.h"

namespace heed::cli {

ChatOptions ChatArguments::options() const {
  ChatOptions options = chat;
  if (!tools_file.empty()) options.tools = read_file(tools_file);
  if (!template_file.empty()) options.chat_template = read_file(template_file);
  return options;
}

std::vector<Option> add_chat_options(Command& command, ChatArguments& arguments) {
  return {
      command
          .add_option("--tools", arguments.tools_file,
                      "JSON file with the functions that the model may call, in OpenAI's form")
          .existing_file(),
      command
          .add_option("--chat-template", arguments.template_file,
                      "Jinja file to use instead of the model's chat template")
          .existing_file(),
      command.add_option("--chat-template-kwargs", arguments.chat.chat_template_kwargs,
                         "Further variables of the chat template as a JSON object, for example "
                         "'{\"enable_thinking\": false}'"),
      command.add_flag("--control-tokens-in-messages", arguments.chat.control_tokens_in_messages,
                       "Recognise control tokens such as <|im_end|> in the text of messages too; "
                       "whoever writes a message can then pose as anyone")};
}

}  // namespace heed::cli
