#include "cli/options/completion_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace heed::cli {
namespace {

/// Calls visit(command) for a command and for all below it.
template <typename Visit>
void for_each_command(const CommandHelp& command, const Visit& visit) {
  visit(command);
  for (const CommandHelp& one : command.commands) for_each_command(one, visit);
}

std::string last_word(const std::string& name) { return name.substr(name.rfind(' ') + 1); }

/// The names of all commands below `program`, quoted: 'heed train', 'heed tokenizer train'.
std::vector<std::string> quoted_commands(const CommandHelp& program) {
  std::vector<std::string> names;
  for_each_command(program, [&](const CommandHelp& command) {
    if (&command != &program) names.push_back("'" + command.name + "'");
  });
  return names;
}

/// `text` with `escape` before each character that is one of `special`.
std::string escaped(const std::string& text, std::string_view special, std::string_view escape) {
  std::string out;
  for (const char byte : text) {
    if (special.find(byte) != std::string_view::npos) out += escape;
    out += byte;
  }
  return out;
}

/// A case of bash: after the options `names` of a command, `body`.
std::string after_options(const CommandHelp& command, const std::vector<std::string>& names,
                          const std::string& body) {
  std::vector<std::string> patterns;
  for (const std::string& name : names) patterns.push_back("'" + command.name + " " + name + "'");
  return fmt::format("    {}) {};;\n", fmt::join(patterns, " | "), body);
}

/// The cases of bash for the values of a command's options.
std::string bash_values(const CommandHelp& command) {
  std::string cases;
  std::vector<std::string> others;  // Options whose values are not listed.
  for (const OptionHelp& option : command.options) {
    if (option.positional || option.value.empty()) continue;
    if (option.choices.empty())
      others.insert(others.end(), option.names.begin(), option.names.end());
    else
      cases += after_options(command, option.names,
                             fmt::format("words='{}' ", fmt::join(option.choices, " ")));
  }
  return others.empty() ? cases : cases + after_options(command, others, "");
}

/// The case of bash for the words that a command itself may be followed by.
std::string bash_words(const CommandHelp& command) {
  std::vector<std::string> words;
  for (const CommandHelp& one : command.commands) words.push_back(last_word(one.name));
  for (const OptionHelp& option : command.options) {
    const auto& more = option.positional ? option.choices : option.names;
    words.insert(words.end(), more.begin(), more.end());
  }
  return fmt::format("        '{}') words='{}' ;;\n", command.name, fmt::join(words, " "));
}

/// `text` for a place within single quotes of zsh.
std::string zsh_quoted(std::string text) {
  for (size_t i = 0; (i = text.find('\'', i)) != std::string::npos; i += 4)
    text.replace(i, 1, "'\\''");
  return text;
}

/// Arguments of zsh's _arguments for an option, one for each of its names.
std::string zsh_option(const OptionHelp& option) {
  const auto plain = [](const std::string& text) {
    return zsh_quoted(escaped(text, "\\[]:", "\\"));
  };
  const std::string values =
      option.choices.empty() ? "_files" : fmt::format("({})", fmt::join(option.choices, " "));
  const char* const repeatable = option.repeatable ? "*" : "";
  std::string out;
  for (const std::string& name : option.names) {
    if (option.positional) {
      out += fmt::format(" \\\n        '{}:{}:{}'", repeatable, plain(name), values);
      continue;
    }
    const bool long_value = !option.value.empty() && name.starts_with("--");
    out += fmt::format(" \\\n        '{}{}{}[{}]", repeatable, name, long_value ? "=" : "",
                       plain(option.description));
    if (!option.value.empty()) out += fmt::format(":{}:{}", plain(option.value), values);
    out += '\'';
  }
  return out;
}

/// The case of zsh for a command.
std::string zsh_case(const CommandHelp& command) {
  std::string commands, arguments;
  for (const OptionHelp& option : command.options) arguments += zsh_option(option);
  for (const CommandHelp& one : command.commands)
    commands +=
        fmt::format(" \\\n        '{}:{}'", last_word(one.name), zsh_quoted(one.description));
  if (!commands.empty()) {
    commands = fmt::format("      local -a commands=({})\n", commands);
    arguments += " \\\n        '1:command:{_describe command commands}'";
  }
  return fmt::format("    ('{}')\n{}      _arguments{}\n      ;;\n", command.name, commands,
                     arguments);
}

/// `text` between single quotes of fish.
std::string fish_quoted(const std::string& text) { return "'" + escaped(text, "\\'", "\\") + "'"; }

/// What fish is told of an option; nothing of arguments that are names of files.
std::string fish_option(const OptionHelp& option) {
  std::string out;
  if (!option.positional)
    for (const std::string& name : option.names)
      out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.choices.empty())
    out += fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
  else if (!option.positional && !option.value.empty())
    out += " -r";
  return out.empty() ? out : out + " -d " + fish_quoted(option.description);
}

}  // namespace

std::string bash_completion(const CommandHelp& program) {
  std::string values, words;
  for_each_command(program, [&](const CommandHelp& command) {
    values += bash_values(command);
    words += bash_words(command);
  });
  return fmt::format(R"(# bash completion of heed; written by "heed completion bash"
_heed() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
  local command=heed words='' i
  # bash divides --option=value at the sign.
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $previous == '=' ]]; then
    previous=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$command ${{COMP_WORDS[i]}}" in
      {}) command+=" ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$command $previous" in
{}    *)
      case $command in
{}      esac
      ;;
  esac
  # No words: names of files.
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _heed heed
)",
                     fmt::join(quoted_commands(program), " | "), values, words);
}

std::string zsh_completion(const CommandHelp& program) {
  std::string cases;
  for_each_command(program, [&](const CommandHelp& command) { cases += zsh_case(command); });
  return fmt::format(R"(#compdef heed
# zsh completion of heed; written by "heed completion zsh"
_heed() {{
  local command=heed
  while (( CURRENT > 2 )); do
    case "$command $words[2]" in
      ({}) command+=" $words[2]"; shift words; (( CURRENT-- )) ;;
      (*) break ;;
    esac
  done
  case $command in
{}  esac
}}
_heed "$@"
)",
                     fmt::join(quoted_commands(program), " | "), cases);
}

std::string fish_completion(const CommandHelp& program) {
  std::string lines;
  for_each_command(program, [&](const CommandHelp& command) {
    const std::string begin = fmt::format("complete -c heed -n \"__heed_at '{}'\"", command.name);
    for (const CommandHelp& one : command.commands)
      lines += fmt::format("{} -f -a {} -d {}\n", begin, last_word(one.name),
                           fish_quoted(one.description));
    for (const OptionHelp& option : command.options)
      if (const std::string more = fish_option(option); !more.empty()) lines += begin + more + "\n";
  });
  return fmt::format(R"(# fish completion of heed; written by "heed completion fish"
function __heed_at -d 'Whether the words before the cursor name this command'
    set -l command heed
    for word in (commandline -opc)[2..-1]
        if contains -- "$command $word" {}
            set command "$command $word"
        end
    end
    test "$command" = "$argv"
end
{})",
                     fmt::join(quoted_commands(program), " "), lines);
}

}  // namespace heed::cli
