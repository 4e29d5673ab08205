#pragma once

#include <string>
#include <vector>

#include "cli/options/command_help.h"

namespace heed::cli {

/// What --help prints: lines of at most 100 columns, options in their groups.
std::string help_page(const CommandHelp& command);

/// How a positional argument is shown: "MODEL", "[TEXT]", "FILES...".
std::string shown_positional(const OptionHelp& option);

/// The groups of options in the order of their first members, those of all commands last.
std::vector<std::string> groups_of(const std::vector<OptionHelp>& options);

/// How the command is called: "heed fill [OPTIONS] [TEXT]".
std::string usage_of(const CommandHelp& command);

}  // namespace heed::cli
