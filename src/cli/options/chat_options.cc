#include "cli/options/chat_options.h"

#include "cli/options/declared_options.h"
#include "heed/base/file.h"
#include "heed/chat/chat_options.h"

namespace heed::cli {

ChatOptions ChatArguments::options() const {
  ChatOptions options = chat;
  if (no_parallel_tool_calls) options.parallel_tool_calls = false;
  if (!tools_file.empty()) options.tools = read_file(tools_file);
  if (!template_file.empty()) options.chat_template = read_file(template_file);
  return options;
}

std::vector<Option> add_chat_options(Command& command, ChatArguments& arguments) {
  using chat::ChatOption;
  const OptionGroup group(command, "Messages");
  return {add_declared_value(command, ChatOption::tools, arguments.tools_file).existing_file(),
          add_declared_option(command, ChatOption::tool_choice, arguments.chat),
          command.add_flag("--no-parallel-tool-calls", arguments.no_parallel_tool_calls,
                           "At most one call in an answer"),
          add_declared_value(command, ChatOption::chat_template, arguments.template_file)
              .existing_file(),
          add_declared_option(command, ChatOption::chat_template_kwargs, arguments.chat),
          add_declared_option(command, ChatOption::control_tokens_in_messages, arguments.chat)};
}

}  // namespace heed::cli
