#pragma once

#include <string>

#include "cli/options/command_help.h"

namespace heed::cli {

/// The name of the manual page of the command `name`: heed-tokenizer-train of "heed tokenizer
/// train".
std::string page_name(std::string name);

/// A command's manual page in the language of man(7). `version` is that of the program: "heed 1.0".
std::string manual_page(const CommandHelp& command, const std::string& version);

}  // namespace heed::cli
