#include <algorithm>
#include <iostream>
#include <memory>

#include "cli/options/command.h"
#include "cli/options/help_page.h"
#include "cli/options/suggestion.h"

namespace heed::cli {
namespace {

/// The command below `command` that `name` names. Throws UsageError.
const CommandHelp& command_below(const CommandHelp& command, const std::string& name) {
  std::vector<std::string> names;
  for (const CommandHelp& one : command.commands) {
    names.push_back(one.name.substr(command.name.size() + 1));
    if (names.back() == name) return one;
  }
  throw UsageError(
      fmt::format("{} has no command {}{}", command.name, name, did_you_mean(name, names)));
}

}  // namespace

void add_help(Command& program) {
  Command command = program.add_subcommand("help", "Prints the help of a command");
  auto names = std::make_shared<std::vector<std::string>>();
  command.add_option("command", *names, "The command; without one, all are listed");
  command.footer("Examples:\n  heed help generate\n  heed help tokenizer train");
  command.set_action([program, names] {
    const CommandHelp all = program.help();
    const CommandHelp* found = &all;
    for (const std::string& name : *names) found = &command_below(*found, name);
    std::cout << help_page(*found);
    return 0;
  });
}

}  // namespace heed::cli
