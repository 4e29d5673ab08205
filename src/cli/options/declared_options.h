#pragma once

#include <algorithm>
#include <string>
#include <type_traits>

#include "cli/options/options.h"
#include "heed/base/declared_option.h"

namespace heed::cli {

/// "top-k" for top_k: how the command line and /set call an option.
template <typename Declared>
std::string spelling_of(const Declared& declared) {
  std::string name(declared.name);
  std::ranges::replace(name, '_', '-');
  return name;
}

/// Adds --NAME for an option of `options`, with its help and the range that may be typed.
template <typename Declared, typename Options>
Option add_declared_option(Command& command, const Declared& declared, Options& options,
                           const std::string& name) {
  const std::string help(declared.help);
  auto& value = options.*declared.field;
  if constexpr (std::is_same_v<typename Declared::Number, bool>) {
    return command.add_flag(name, value, help);
  } else {
    Option option = command.add_option(name, value, help);
    if (declared.typed.is_limited()) option.range(declared.typed.min, declared.typed.max);
    return option;
  }
}
template <typename Declared, typename Options>
Option add_declared_option(Command& command, const Declared& declared, Options& options) {
  return add_declared_option(command, declared, options, "--" + spelling_of(declared));
}

/// The same for an option whose value is the name of something: it is passed to `set`.
template <typename Declared, typename Set>
Option add_declared_callback(Command& command, const Declared& declared, const Set& set) {
  return command.add_callback("--" + spelling_of(declared), set, std::string(declared.help));
}

}  // namespace heed::cli
