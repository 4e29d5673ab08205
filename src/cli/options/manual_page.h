#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/options/command_help.h"

namespace heed::cli {

/// The name of the manual page of the command `name`: heed-tokenizer-train of "heed tokenizer
/// train".
std::string page_name(std::string name);

/// What is the same in all manual pages of a program.
struct ManualFacts {
  std::string version;  // of the program: "heed 1.0"
  std::string date;     // of that version: "2026-11-28"
  /// Exit statuses and environment variables, with what they mean.
  std::vector<std::pair<std::string, std::string>> exit_statuses, environment;
};

/// A command's manual page in the language of man(7).
std::string manual_page(const CommandHelp& command, const ManualFacts& facts);

}  // namespace heed::cli
