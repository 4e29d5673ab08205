#pragma once

#include <string>
#include <vector>

#include "cli/options/options.h"
#include "heed/chat.h"

namespace heed::cli {

/// How messages become a prompt, as the command line says it.
struct ChatArguments {
  std::string tools_file, template_file;
  bool no_parallel_tool_calls = false;
  ChatOptions chat;

  /// Reads the files. Throws Error when one cannot be read.
  ChatOptions options() const;
};

/// Adds --tools, --tool-choice, --no-parallel-tool-calls, --chat-template, --chat-template-kwargs
/// and --control-tokens-in-messages, and returns them.
std::vector<Option> add_chat_options(Command& command, ChatArguments& arguments);

}  // namespace heed::cli
