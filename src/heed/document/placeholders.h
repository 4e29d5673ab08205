#pragma once

#include <string_view>
#include <vector>

#include "heed/document/document.h"

namespace heed::document {

/// What is looked for in a text. `c_format`: by the syntax of C alone, in which "%%" and "% d" are
/// placeholders, too. `braces`: by the syntax of Python's str.format, in which "{{" is one.
struct PlaceholderRules {
  bool common = true;
  bool numbers = false;
  bool c_format = false;
  bool braces = false;
};

/// A part of a text that programs or people read as it is.
struct Placeholder {
  /// Of a program, which fails on one too many; a URL or an e-mail address; a number.
  enum class Kind { code, address, number };

  ByteRange range;
  Kind kind = Kind::code;
};

/// The placeholders of a text, in order, without overlaps, in linear time: "%1$s", "%(name)s",
/// "%name%", "%{name}", "{name}", "{0,number}", "{n, plural, ...}", "{{x}}", "{% x %}", "${x}",
/// URLs, e-mail addresses. None reaches over a line break.
std::vector<Placeholder> find_placeholders(std::string_view text, const PlaceholderRules& rules);

/// `text`, of the same length, with spaces for all that a placeholder needs.
std::string without_placeholder_characters(std::string_view text, const PlaceholderRules& rules);

}  // namespace heed::document
