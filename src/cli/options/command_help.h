#pragma once

#include <string>
#include <vector>

namespace heed::cli {

/// What --help says of an option or of a positional argument.
struct OptionHelp {
  std::vector<std::string> names;  // "-h" and "--help"; a positional argument has its name alone
  bool positional = false;
  std::string positional_name;       // also of an option that may be given without its name
  std::string group;                 // the heading above it: "Sampling"
  std::string value;                 // what it takes: "TEXT", "INT in [1 - 1024]"; empty: a flag
  std::vector<std::string> choices;  // the values it takes, where these are listed
  std::string description;
  std::string default_value;
  bool required = false, repeatable = false;
  std::vector<std::string> needs, excludes;  // names of other options
};

/// What --help says of a command and of its subcommands: the source of manual pages and of
/// completions.
struct CommandHelp {
  std::string name;         // with those of the commands above it: "heed tokenizer train"
  std::string group;        // the heading above it in the help of the command above
  std::string description;  // one line
  std::string footer;       // examples, in lines as they are printed
  std::vector<OptionHelp> options;
  std::vector<CommandHelp> commands;
};

}  // namespace heed::cli
