#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/options/command_help.h"

// Only options.cc includes CLI11, whose headers take ten seconds to compile.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace heed::cli {

/// An invalid command line: the program prints the message with a hint at --help and exits with 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The command line names no model, or not the one that the command needs.
class MissingModel : public UsageError {
 public:
  using UsageError::UsageError;
};

/// An option, flag or positional argument of a Command. A handle: copies refer to the same option.
/// Each restriction returns the option, so that calls can be chained. --help shows the
/// restrictions; a value that violates one is a UsageError.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option required(bool required = true);
  /// The value lies within [min, max].
  Option range(int64_t min, int64_t max);
  Option range(double min, double max);
  Option range(int min, int max) { return range(int64_t{min}, int64_t{max}); }
  /// The value is above 0.
  Option positive();
  /// The value is one of `names`.
  Option one_of(const std::vector<std::string>& names);
  Option not_empty();
  /// The value is the path of an existing file that is not a directory.
  Option existing_file();
  /// `problem` returns what is wrong with a value, or an empty string.
  Option check(std::function<std::string(const std::string& value)> problem);
  /// The option requires `other`; the option cannot be combined with `other`.
  Option needs(Option other);
  Option excludes(Option other);

  /// --help shows the current value of the variable as the default.
  Option show_default();
  /// --help shows `value` as the default.
  Option show_default(const std::string& value);
  /// An argument may hold several values, separated by `separator`.
  Option delimiter(char separator);
  /// Replaces the help text.
  Option description(const std::string& help);
  /// The value is a model: an absent required one is a MissingModel.
  Option names_model();

  /// The number of times the option was given.
  size_t count() const;

 private:
  CLI::Option* option_;
};

/// On how many ranks (processes that a launcher starts together) a command runs.
enum class Ranks { one, several };

/// The headings above options: of a command itself, of the loading of its model, of all commands.
inline constexpr const char *kMainGroup = "Options", *kLoadingGroup = "Loading the model",
                            *kGeneralGroup = "General";

/// A subcommand: its options and its action. A handle: copies refer to the same command.
class Command {
 public:
  Command add_subcommand(const std::string& name, const std::string& description);
  /// Running this command without one of its subcommands prints its help.
  void require_subcommand();

  /// The program's commands that are added from now on are listed under `heading` in its help, and
  /// this command's options likewise.
  void begin_commands(const std::string& heading);
  void begin_options(const std::string& heading);

  /// `name` is "--long", several of these separated by commas, the name of a positional argument
  /// without dashes, or both ("model,--model"). `value` must outlive the program; it changes only
  /// if the option is given. T: std::string, int, int64_t, uint64_t, float, double, an
  /// std::optional of one of these, or an std::vector of std::string, std::filesystem::path or
  /// int32_t.
  template <typename T>
  Option add_option(const std::string& name, T& value, const std::string& help);
  /// An option whose value is passed to `set`.
  Option add_callback(const std::string& name, std::function<void(const std::string&)> set,
                      const std::string& help);
  /// An option of `least` to `most` values that may be given several times. Each time adds a list
  /// to `lists`, which must outlive the program.
  Option add_lists(const std::string& name, std::vector<std::vector<std::string>>& lists, int least,
                   int most, const std::string& help);
  /// `value` becomes true when the flag is given.
  Option add_flag(const std::string& name, bool& value, const std::string& help);

  /// The option `former` has been renamed: giving it is a UsageError that names `current`.
  void add_renamed(const std::string& former, const std::string& current);

  /// The option of that name, which must have been added.
  Option option(const std::string& name) const;
  /// The number of times the option of that name was given.
  size_t count(const std::string& name) const { return option(name).count(); }

  /// Text below the options in --help, such as examples, in lines of at most 100 columns.
  void footer(const std::string& text);
  /// What --help says of this command and of its subcommands.
  CommandHelp help() const;

  /// `action` runs the command and returns its exit status. With Ranks::one it is not called, but
  /// an Error thrown, when a launcher such as mpirun has started several processes.
  void set_action(std::function<int()> action, Ranks ranks = Ranks::one);

 protected:
  /// What the commands of a program share.
  struct Shared {
    int status = 0;
    std::string commands_heading = "Commands";
  };

  Command(CLI::App& app, Shared& shared) : app_(&app), shared_(&shared) {}

  CLI::App* app_;
  Shared* shared_;  // the program's
};

/// Options that are added to a command while it exists are under its heading.
class OptionGroup {
 public:
  OptionGroup(Command& command, const std::string& heading) : command_(command) {
    command_.begin_options(heading);
  }
  ~OptionGroup() { command_.begin_options(kMainGroup); }
  OptionGroup(const OptionGroup&) = delete;
  OptionGroup& operator=(const OptionGroup&) = delete;

 private:
  Command& command_;
};

/// The program itself, whose subcommands are the commands.
class Program : public Command {
 public:
  Program(const std::string& name, const std::string& description, const std::string& version);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Runs the subcommand that the command line names, or prints the text for --help or --version;
  /// that for --help also when there is nothing to run.
  /// Returns the exit status. Throws UsageError on a wrong command line, and whatever the action
  /// throws.
  int run(int argc, char** argv);

  /// The command that prints the help of the subcommand that run() was given, if it was given one:
  /// "heed translate --help".
  std::string help_command() const;

 private:
  struct State;

  explicit Program(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace heed::cli
