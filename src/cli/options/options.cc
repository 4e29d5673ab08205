#include "cli/options/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <type_traits>
#include <utility>

#include "cli/ranks.h"

namespace heed::cli {
namespace {

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
  help.positional = help.names.empty();
  if (help.positional) help.names.push_back(option.get_name(true));
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
  for (const CLI::App* command : app.get_subcommands({}))
    help.commands.push_back(describe(*command, name + " " + command->get_name()));
  return help;
}

std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : full_name(*parent) + " " + app.get_name();
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
  option_->check(CLI::IsMember(names));
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

size_t Option::count() const { return option_->count(); }

Command Command::add_subcommand(const std::string& name, const std::string& description) {
  return {*app_->add_subcommand(name, description), *status_};
}

void Command::require_subcommand() { app_->require_subcommand(1); }

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
  app_->callback([app = app_, status = status_, ranks, action = std::move(action)] {
    if (ranks == Ranks::one) require_one_rank(full_name(*app));
    *status = action();
  });
}

struct Program::State {
  State(const std::string& name, const std::string& description) : app(description, name) {}

  CLI::App app;
  int status = 0;
};

Program::Program(std::unique_ptr<State> state)
    : Command(state->app, state->status), state_(std::move(state)) {}

Program::Program(const std::string& name, const std::string& description,
                 const std::string& version)
    : Program(std::make_unique<State>(name, description)) {
  app_->set_version_flag("--version", version);
  app_->require_subcommand(1);
}

std::string Program::help_command() const {
  std::string names = app_->get_name();
  for (const CLI::App* app = app_; !app->get_subcommands().empty();) {
    app = app->get_subcommands().front();
    names += " " + app->get_name();
  }
  return names + " --help";
}

Program::~Program() = default;

int Program::run(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help, --version
    return prints_for_all() ? app_->exit(done) : 0;
  } catch (const CLI::ParseError& error) {
    // An unknown argument is reported first: it may be what is missing, misspelt.
    const std::vector<std::string> unknown = app_->remaining(true);
    throw UsageError(unknown.empty() ? error.what() : "unknown argument " + unknown.front());
  }
  return *status_;
}

}  // namespace heed::cli
