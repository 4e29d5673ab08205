#pragma once

#include <string>

#include "cli/options/command_help.h"

namespace heed::cli {

/// Scripts that complete the commands, options and values of a program: for bash, zsh and fish.
/// Arguments whose values are not listed are completed with the names of files.
std::string bash_completion(const CommandHelp& program);
std::string zsh_completion(const CommandHelp& program);
std::string fish_completion(const CommandHelp& program);

}  // namespace heed::cli
