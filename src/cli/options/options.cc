#include "cli/options/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <optional>
#include <type_traits>
#include <utility>

#include "cli/options/help_page.h"
#include "cli/options/suggestion.h"
#include "cli/ranks.h"

namespace heed::cli {
namespace {

constexpr const char* kModelValue = "MODEL";

/// What is wrong with an integer that CLI11 accepts: it reads an empty value as 0 and a negative
/// one as a large unsigned number.
std::string integer_problem(const std::string& text, bool is_signed) {
  if (text.empty()) return "An empty value is not an integer";
  if (!is_signed && text.starts_with('-')) return fmt::format("Value {} is negative", text);
  return {};
}

template <typename T>
struct ElementOf {
  using Type = T;
};
template <typename T>
struct ElementOf<std::optional<T>> {
  using Type = T;
};
template <typename T>
struct ElementOf<std::vector<T>> {
  using Type = T;
};

/// The names of options in the order of the alphabet: CLI11 has them in that of their addresses.
std::vector<std::string> names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::ranges::sort(names);
  return names;
}

/// What an option takes. CLI11 says it as "INT:INT in [1 - 8]", "TEXT:{a,b}" or "FLOAT:POSITIVE".
void describe_value(const CLI::Option& option, OptionHelp& help) {
  const std::string type = option.get_type_name();
  const size_t colon = type.find(':');
  help.value = type.substr(0, colon);
  if (colon == std::string::npos) return;
  const std::string restriction = type.substr(colon + 1);
  if (restriction.starts_with('{')) {
    help.choices = CLI::detail::split(restriction.substr(1, restriction.size() - 2), ',');
  } else if (help.value == "TEXT" || restriction.starts_with(help.value)) {
    help.value = restriction;
  } else {
    help.value += " " + restriction;
  }
}

OptionHelp describe(const CLI::Option& option) {
  OptionHelp help;
  help.description = option.get_description();
  for (const std::string& name : option.get_snames()) help.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) help.names.push_back("--" + name);
  help.group = option.get_group();
  help.positional = help.names.empty();
  if (option.get_positional()) help.positional_name = option.get_name(true);
  if (help.positional) help.names.push_back(help.positional_name);
  if (option.get_type_size() != 0) {
    describe_value(option, help);
    help.default_value = option.get_default_str();
    help.required = option.get_required();
    help.repeatable = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  }
  help.needs = names_of(option.get_needs());
  help.excludes = names_of(option.get_excludes());
  return help;
}

CommandHelp describe(const CLI::App& app, const std::string& name) {
  CommandHelp help;
  help.name = name;
  help.description = app.get_description();
  help.footer = app.get_footer();
  // Options without a group are not in --help.
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) help.options.push_back(describe(*option));
  for (const CLI::App* command : app.get_subcommands({})) {
    help.commands.push_back(describe(*command, name + " " + command->get_name()));
    help.commands.back().group = command->get_group();
  }
  return help;
}

std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : full_name(*parent) + " " + app.get_name();
}

/// The subcommand that was given, as far as it is known.
const CLI::App& last_command(const CLI::App& app) {
  const CLI::App* last = &app;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().front();
  return *last;
}

/// What `text`, which is neither an option nor a command, may have been meant as.
std::string suggestion(const CLI::App& app, const std::string& text) {
  std::vector<std::string> names;
  if (text.starts_with('-')) {
    for (const CLI::Option* option : app.get_options())
      if (!option->get_group().empty())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return did_you_mean(text.substr(0, text.find('=')), names);
  }
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return did_you_mean(text, names);
}

/// The option that is missing if it names a model; null otherwise.
const CLI::Option* missing_model(const CLI::App& app) {
  const auto options = app.get_options();
  const auto missing = std::ranges::find_if(options, [](const CLI::Option* option) {
    return option->get_required() && option->count() == 0;
  });
  const bool is_model = missing != options.end() && (*missing)->get_type_name() == kModelValue;
  return is_model ? *missing : nullptr;
}

/// What a command line means by a word that `command` does not know.
const char* what_is_missing(const CLI::App& command, std::string_view word) {
  const bool has_commands = !command.get_subcommands({}).empty();
  return has_commands && !word.starts_with('-') ? "command" : "argument";
}

}  // namespace

Option Option::required(bool required) {
  option_->required(required);
  return *this;
}

Option Option::range(int64_t min, int64_t max) {
  option_->check(CLI::Range(min, max));
  return *this;
}

Option Option::range(double min, double max) {
  option_->check(CLI::Range(min, max));
  return *this;
}

Option Option::positive() {
  const auto problem = [](const std::string& text) {
    double value = 0;
    const bool valid = CLI::detail::lexical_cast(text, value) && value > 0 && std::isfinite(value);
    return valid ? std::string() : fmt::format("Value {} is not a positive number", text);
  };
  option_->check(CLI::Validator(problem, "POSITIVE"));
  return *this;
}

Option Option::one_of(const std::vector<std::string>& names) {
  const auto problem = [names](const std::string& text) {
    if (std::ranges::find(names, text) != names.end()) return std::string();
    return fmt::format("{} not in {{{}}}{}", text, fmt::join(names, ","),
                       did_you_mean(text, names));
  };
  option_->check(CLI::Validator(problem, fmt::format("{{{}}}", fmt::join(names, ","))));
  return *this;
}

Option Option::not_empty() {
  return check([](const std::string& text) { return text.empty() ? "The value is empty" : ""; });
}

Option Option::existing_file() {
  option_->check(CLI::ExistingFile);
  return *this;
}

Option Option::check(std::function<std::string(const std::string& value)> problem) {
  option_->check(std::move(problem));
  return *this;
}

Option Option::needs(Option other) {
  option_->needs(other.option_);
  return *this;
}

Option Option::excludes(Option other) {
  option_->excludes(other.option_);
  return *this;
}

Option Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option Option::show_default(const std::string& value) {
  option_->default_str(value);
  return *this;
}

Option Option::delimiter(char separator) {
  option_->delimiter(separator);
  return *this;
}

Option Option::description(const std::string& help) {
  option_->description(help);
  return *this;
}

Option Option::names_model() {
  option_->type_name(kModelValue);
  return *this;
}

size_t Option::count() const { return option_->count(); }

Command Command::add_subcommand(const std::string& name, const std::string& description) {
  CLI::App& command = *app_->add_subcommand(name, description);
  command.set_help_flag("-h,--help", "Print this help and exit")->group(kGeneralGroup);
  if (app_->get_parent() == nullptr)
    command.group(shared_->commands_heading);
  else
    command.group("Commands");
  return {command, *shared_};
}

void Command::begin_commands(const std::string& heading) { shared_->commands_heading = heading; }

void Command::begin_options(const std::string& heading) { app_->option_defaults()->group(heading); }

void Command::require_subcommand() {
  set_action([app = app_] {
    if (!app->get_subcommands().empty()) return 0;
    std::cout << help_page(describe(*app, full_name(*app)));
    return 0;
  });
}

template <typename T>
Option Command::add_option(const std::string& name, T& value, const std::string& help) {
  CLI::Option& option = *app_->add_option(name, value, help);
  using Element = typename ElementOf<T>::Type;
  if constexpr (std::is_integral_v<Element>)
    option.check(
        [](const std::string& text) { return integer_problem(text, std::is_signed_v<Element>); });
  return Option(option);
}

template Option Command::add_option(const std::string&, std::string&, const std::string&);
template Option Command::add_option(const std::string&, int&, const std::string&);
template Option Command::add_option(const std::string&, int64_t&, const std::string&);
template Option Command::add_option(const std::string&, uint64_t&, const std::string&);
template Option Command::add_option(const std::string&, float&, const std::string&);
template Option Command::add_option(const std::string&, double&, const std::string&);
template Option Command::add_option(const std::string&, std::filesystem::path&, const std::string&);
template Option Command::add_option(const std::string&, std::optional<std::string>&,
                                    const std::string&);
template Option Command::add_option(const std::string&, std::optional<int>&, const std::string&);
template Option Command::add_option(const std::string&, std::optional<int64_t>&,
                                    const std::string&);
template Option Command::add_option(const std::string&, std::optional<uint64_t>&,
                                    const std::string&);
template Option Command::add_option(const std::string&, std::optional<float>&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<std::string>&,
                                    const std::string&);
template Option Command::add_option(const std::string&, std::vector<std::filesystem::path>&,
                                    const std::string&);
template Option Command::add_option(const std::string&, std::vector<int32_t>&, const std::string&);

Option Command::add_callback(const std::string& name, std::function<void(const std::string&)> set,
                             const std::string& help) {
  return Option(*app_->add_option_function<std::string>(name, std::move(set), help));
}

Option Command::add_lists(const std::string& name, std::vector<std::vector<std::string>>& lists,
                          int least, int most, const std::string& help) {
  // CLI11 would take the next option for a value.
  const auto refuse_option = [](const std::string& value) {
    return value.starts_with("--") ? value + " stands where a value is expected" : std::string();
  };
  return Option(*app_->add_option(name, lists, help)->type_size(least, most)->check(refuse_option));
}

Option Command::add_flag(const std::string& name, bool& value, const std::string& help) {
  return Option(*app_->add_flag(name, value, help));
}

void Command::add_renamed(const std::string& former, const std::string& current) {
  const CLI::callback_t refuse = [=](const CLI::results_t&) -> bool {
    throw UsageError(former + " is now " + current);
  };
  // Without a group the option is not in --help. Its value is optional, so that a missing one is
  // not reported instead.
  app_->add_option(former, refuse)->expected(0, 1)->group("");
}

Option Command::option(const std::string& name) const { return Option(*app_->get_option(name)); }

void Command::footer(const std::string& text) { app_->footer(text); }

CommandHelp Command::help() const { return describe(*app_, full_name(*app_)); }

void Command::set_action(std::function<int()> action, Ranks ranks) {
  app_->callback([app = app_, shared = shared_, ranks, action = std::move(action)] {
    if (ranks == Ranks::one) require_one_rank(full_name(*app));
    shared->status = action();
  });
}

struct Program::State {
  State(const std::string& name, const std::string& description) : app(description, name) {}

  CLI::App app;
  Shared shared;
};

Program::Program(std::unique_ptr<State> state)
    : Command(state->app, state->shared), state_(std::move(state)) {}

Program::Program(const std::string& name, const std::string& description,
                 const std::string& version)
    : Program(std::make_unique<State>(name, description)) {
  app_->set_help_flag("-h,--help", "Print this help and exit");
  app_->set_version_flag("--version", version, "Print the version and exit");
  app_->require_subcommand(0, 1);
  app_->callback([app = app_] {
    if (app->get_subcommands().empty() && prints_for_all())
      std::cout << help_page(describe(*app, app->get_name()));
  });
}

std::string Program::help_command() const { return full_name(last_command(*app_)) + " --help"; }

Program::~Program() = default;

int Program::run(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const CLI::App& command = last_command(*app_);
    if (prints_for_all()) std::cout << help_page(describe(command, full_name(command)));
    return 0;
  } catch (const CLI::Success& done) {  // --version
    return prints_for_all() ? app_->exit(done) : 0;
  } catch (const CLI::ParseError& error) {
    // An unknown argument is reported first: it may be what is missing, misspelt.
    const CLI::App& command = last_command(*app_);
    if (const std::vector<std::string> unknown = app_->remaining(true); !unknown.empty())
      throw UsageError(fmt::format("unknown {} {}{}", what_is_missing(command, unknown.front()),
                                   unknown.front(), suggestion(command, unknown.front())));
    const bool missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
    if (const CLI::Option* const model = missing ? missing_model(command) : nullptr)
      throw MissingModel(fmt::format("{0} needs a model: {0} {1}MODEL", full_name(command),
                                     model->get_positional() ? "" : model->get_name() + " "));
    throw UsageError(error.what());
  }
  return shared_->status;
}

}  // namespace heed::cli
