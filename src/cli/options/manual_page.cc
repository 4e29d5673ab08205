#include "cli/options/manual_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "cli/options/help_page.h"
#include "heed/base/ascii.h"

namespace heed::cli {
namespace {

/// A text as it reads: no byte of it means anything to troff.
std::string troff_text(const std::string& text) {
  std::string out;
  bool line_begins = true;
  for (const char byte : text) {
    if (line_begins && (byte == '.' || byte == '\'')) out += "\\&";
    line_begins = byte == '\n';
    switch (byte) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        out += byte;
    }
  }
  return out;
}

/// Text for troff, which joins lines, in lines of at most 80 bytes where words allow it.
std::string in_lines(const std::string& text) {
  constexpr size_t kLongest = 80;
  std::string page, line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kLongest) {
      page += line + '\n';
      line = word.front() == '.' ? "\\&" : "";
    } else if (!line.empty()) {
      line += ' ';
    }
    line += word;
  }
  return page + line + '\n';
}

std::string bold(const std::string& text) { return "\\fB" + troff_text(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + troff_text(text) + "\\fR"; }

std::vector<std::string> bold(std::vector<std::string> texts) {
  std::ranges::transform(texts, texts.begin(), [](const std::string& text) { return bold(text); });
  return texts;
}

void append_option(std::string& page, const OptionHelp& option) {
  page += fmt::format(".TP\n{}", option.positional
                                     ? italic(option.names.front())
                                     : fmt::format("{}", fmt::join(bold(option.names), ", ")));
  if (!option.choices.empty())  // A line may end after each comma.
    page += fmt::format(" {{{}}}", fmt::join(bold(option.choices), ",\\:"));
  else if (!option.value.empty())
    page += " " + italic(option.value);
  if (option.repeatable) page += " ...";
  std::string text = troff_text(option.description);
  // A description may be a single sentence without its full stop.
  if (!option.description.ends_with('.')) text += '.';
  if (option.required) text += " Required.";
  if (!option.default_value.empty())
    text += fmt::format(" Default: {}.", bold(option.default_value));
  if (!option.needs.empty()) text += fmt::format(" Needs {}.", fmt::join(bold(option.needs), ", "));
  if (!option.excludes.empty())
    text += fmt::format(" Not with {}.", fmt::join(bold(option.excludes), ", "));
  page += '\n' + in_lines(text);
}

void append_synopsis(std::string& page, const CommandHelp& command) {
  page += ".SH SYNOPSIS\n" + bold(command.name);
  if (!command.commands.empty()) page += ' ' + italic("COMMAND");
  page += " [" + italic("OPTIONS") + "]";
  for (const OptionHelp& option : command.options)
    if (!option.positional_name.empty()) page += ' ' + italic(shown_positional(option));
  page += '\n';
}

void append_options(std::string& page, const CommandHelp& command, bool positional,
                    const char* heading) {
  const auto belongs = [=](const OptionHelp& option) { return option.positional == positional; };
  if (!std::ranges::any_of(command.options, belongs)) return;
  page += fmt::format(".SH {}\n", heading);
  const std::vector<std::string> groups = groups_of(command.options);
  for (const std::string& group : groups) {
    const auto is_shown = [&](const OptionHelp& one) { return belongs(one) && one.group == group; };
    if (!std::ranges::any_of(command.options, is_shown)) continue;
    if (group != groups.front()) page += fmt::format(".SS {}\n", troff_text(group));
    for (const OptionHelp& option : command.options)
      if (is_shown(option)) append_option(page, option);
  }
}

void append_table(std::string& page, const char* heading,
                  const std::vector<std::pair<std::string, std::string>>& rows) {
  page += fmt::format(".SH {}\n", heading);
  for (const auto& [name, meaning] : rows)
    page += fmt::format(".TP\n{}\n{}", bold(name), in_lines(troff_text(meaning)));
}

}  // namespace

std::string page_name(std::string name) {
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string manual_page(const CommandHelp& command, const ManualFacts& facts) {
  const std::string name = troff_text(page_name(command.name));
  std::string page =
      fmt::format(".TH \"{}\" 1 \"{}\" \"{}\" \"heed\"\n.SH NAME\n{}", upper_case(name), facts.date,
                  troff_text(facts.version),
                  in_lines(fmt::format("{} \\- {}", name, troff_text(command.description))));
  append_synopsis(page, command);
  append_options(page, command, true, "ARGUMENTS");
  append_options(page, command, false, "OPTIONS");
  if (!command.commands.empty()) page += ".SH COMMANDS\n";
  for (const CommandHelp& one : command.commands)
    page += fmt::format(".TP\n{}(1)\n{}", bold(page_name(one.name)),
                        in_lines(troff_text(one.description)));
  append_table(page, "EXIT STATUS", facts.exit_statuses);
  append_table(page, "ENVIRONMENT", facts.environment);
  if (!command.footer.empty())
    page += fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", troff_text(command.footer));
  const size_t last = command.name.rfind(' ');
  if (last != std::string::npos)
    page += fmt::format(".SH SEE ALSO\n{}(1)\n", bold(page_name(command.name.substr(0, last))));
  return page;
}

}  // namespace heed::cli
