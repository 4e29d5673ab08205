#include "cli/options/manual_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

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
  page += "\n" + troff_text(option.description);
  // A description may be a single sentence without its full stop.
  if (!option.description.ends_with('.')) page += '.';
  if (option.required) page += " Required.";
  if (!option.default_value.empty())
    page += fmt::format(" Default: {}.", bold(option.default_value));
  if (!option.needs.empty()) page += fmt::format(" Needs {}.", fmt::join(bold(option.needs), ", "));
  if (!option.excludes.empty())
    page += fmt::format(" Not with {}.", fmt::join(bold(option.excludes), ", "));
  page += '\n';
}

void append_synopsis(std::string& page, const CommandHelp& command) {
  page += fmt::format(".SH SYNOPSIS\n{} [{}]", bold(command.name), italic("OPTIONS"));
  for (const OptionHelp& option : command.options) {
    if (!option.positional) continue;
    const std::string name = italic(option.names.front()) + (option.repeatable ? " ..." : "");
    page += option.required ? " " + name : " [" + name + "]";
  }
  if (!command.commands.empty()) page += " " + italic("COMMAND");
  page += '\n';
}

void append_options(std::string& page, const CommandHelp& command, bool positional,
                    const char* heading) {
  const auto belongs = [=](const OptionHelp& option) { return option.positional == positional; };
  if (!std::ranges::any_of(command.options, belongs)) return;
  page += fmt::format(".SH {}\n", heading);
  for (const OptionHelp& option : command.options)
    if (belongs(option)) append_option(page, option);
}

}  // namespace

std::string page_name(std::string name) {
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string manual_page(const CommandHelp& command, const std::string& version) {
  std::string page = fmt::format(
      ".TH \"{}\" 1 \"\" \"{}\" \"\"\n.SH NAME\n{} \\- {}\n", troff_text(page_name(command.name)),
      troff_text(version), troff_text(page_name(command.name)), troff_text(command.description));
  append_synopsis(page, command);
  append_options(page, command, true, "ARGUMENTS");
  append_options(page, command, false, "OPTIONS");
  if (!command.commands.empty()) page += ".SH COMMANDS\n";
  for (const CommandHelp& one : command.commands)
    page += fmt::format(".TP\n{}(1)\n{}\n", bold(page_name(one.name)), troff_text(one.description));
  if (!command.footer.empty())
    page += fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", troff_text(command.footer));
  const size_t last = command.name.rfind(' ');
  if (last != std::string::npos)
    page += fmt::format(".SH SEE ALSO\n{}(1)\n", bold(page_name(command.name.substr(0, last))));
  return page;
}

}  // namespace heed::cli
