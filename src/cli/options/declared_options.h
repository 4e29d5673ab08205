#pragma once

#include <algorithm>
#include <string>
#include <type_traits>

#include "cli/options/options.h"
#include "heed/base/declared_option.h"
#include "heed/base/names.h"

namespace heed::cli {

/// "top-k" for top_k: how the command line and /set call an option.
template <typename Declared>
std::string spelling_of(const Declared& declared) {
  std::string name(declared.key);
  std::ranges::replace(name, '_', '-');
  return name;
}

/// An option whose value is passed to `set`, with its help.
template <typename Declared, typename Set>
Option add_declared_callback(Command& command, const Declared& declared, const Set& set) {
  return command.add_callback("--" + spelling_of(declared), set, std::string(declared.help));
}

/// --NAME, or `name`, which sets `value`, with its help and what may be typed.
template <typename Declared, typename Value>
Option add_declared_value(Command& command, const Declared& declared, Value& value,
                          std::string name = {}) {
  if (name.empty()) name = "--" + spelling_of(declared);
  using Element = typename ElementOfOptional<Value>::Type;
  const std::string help(declared.help);
  if constexpr (std::is_enum_v<Element>) {
    std::vector<std::string> names;
    for (const Element one : enumerators<Element>()) names.emplace_back(name_of(one));
    const auto set = [&value](const std::string& text) {
      value = named(text, enumerators<Element>());
    };
    return command.add_callback(name, set, help).one_of(names);
  } else if constexpr (std::is_same_v<Element, bool>) {
    return command.add_flag(name, value, help);
  } else {
    Option option = command.add_option(name, value, help);
    if (declared.typed.is_limited()) option.range(declared.typed.min, declared.typed.max);
    return option;
  }
}

/// The same for the field of `options`.
template <typename Declared, typename Options>
Option add_declared_option(Command& command, const Declared& declared, Options& options,
                           const std::string& name = {}) {
  return add_declared_value(command, declared, options.*declared.field, name);
}

}  // namespace heed::cli
