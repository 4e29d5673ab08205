#include "cli/options/help_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "cli/options/options.h"
#include "heed/base/ascii.h"

namespace heed::cli {
namespace {

constexpr size_t kPageColumns = 100, kTextColumn = 26;

/// Words of `text` in lines that begin at column `indent`, the first of them after `begin`.
std::string wrapped(std::string begin, const std::string& text, size_t indent) {
  std::string page, line = std::move(begin);
  std::istringstream words(text);
  bool line_has_word = line.size() >= indent;
  line.resize(std::max(line.size(), indent), ' ');
  for (std::string word; words >> word;) {
    if (line_has_word &&
        line.size() + word.size() + (line.size() > indent ? 1 : 0) > kPageColumns) {
      page += line + '\n';
      line.assign(indent, ' ');
    }
    if (line.size() > indent) line += ' ';
    line += word;
    line_has_word = true;
  }
  return page + line + '\n';
}

/// A line for what is explained, and its explanation beside it or below.
std::string entry(const std::string& heading, const std::string& text) {
  const std::string begin = "  " + heading;
  if (begin.size() + 2 <= kTextColumn) return wrapped(begin + "  ", text, kTextColumn);
  return wrapped("", heading, 2) + wrapped("", text, kTextColumn);
}

std::string option_entry(const OptionHelp& option) {
  std::string heading = fmt::format("{}", fmt::join(option.names, ", "));
  if (!option.choices.empty())
    heading += fmt::format(" {{{}}}", fmt::join(option.choices, ", "));
  else if (!option.value.empty() && !option.positional)
    heading += ' ' + option.value;
  std::string text = option.description;
  if (text.empty() || !text.ends_with('.')) text += '.';
  if (option.repeatable && text.find("repeatable") == text.npos) text += " Several may follow.";
  if (option.required) text += " Required.";
  if (!option.default_value.empty()) text += fmt::format(" Default: {}.", option.default_value);
  if (!option.needs.empty()) text += fmt::format(" Needs {}.", fmt::join(option.needs, ", "));
  if (!option.excludes.empty())
    text += fmt::format(" Not with {}.", fmt::join(option.excludes, ", "));
  return entry(heading, text);
}

template <typename Entry>
std::vector<std::string> headings_of(const std::vector<Entry>& entries) {
  std::vector<std::string> groups;
  for (const Entry& one : entries)
    if (std::ranges::find(groups, one.group) == groups.end()) groups.push_back(one.group);
  return groups;
}

}  // namespace

std::string shown_positional(const OptionHelp& option) {
  std::string name = upper_case(option.positional_name);
  if (option.repeatable) name += "...";
  return option.required ? name : '[' + name + ']';
}

std::vector<std::string> groups_of(const std::vector<OptionHelp>& options) {
  std::vector<std::string> groups = headings_of(options);
  std::ranges::stable_sort(groups, {}, [](const std::string& group) {
    return group == kGeneralGroup ? 2 : group == kLoadingGroup ? 1 : 0;
  });
  return groups;
}

std::string usage_of(const CommandHelp& command) {
  std::string usage =
      command.name + (command.commands.empty() ? " [OPTIONS]" : " COMMAND [OPTIONS]");
  for (const OptionHelp& option : command.options)
    if (!option.positional_name.empty()) usage += ' ' + shown_positional(option);
  return usage;
}

std::string help_page(const CommandHelp& command) {
  std::string page =
      wrapped("", command.description, 0) + '\n' + wrapped("Usage: ", usage_of(command), 7);
  for (const std::string& group : headings_of(command.commands)) {
    page += fmt::format("\n{}:\n", group);
    for (const CommandHelp& one : command.commands)
      if (one.group == group)
        page += entry(one.name.substr(command.name.size() + 1), one.description);
  }
  for (const std::string& group : groups_of(command.options)) {
    page += fmt::format("\n{}:\n", group);
    for (const OptionHelp& option : command.options)
      if (option.group == group) page += option_entry(option);
  }
  if (!command.footer.empty()) page += '\n' + command.footer + '\n';
  return page;
}

}  // namespace heed::cli
