#pragma once

#include <string>
#include <string_view>

namespace heed {

// Messages, logs and pages must not repeat raw bytes that come from a file or from the user: a
// terminal would execute control sequences in them, and a line end would begin a false second line.

/// `text` between double quotes, as a JSON string: quotes, backslashes and the characters that
/// cannot be shown (is_printable()) are escaped, and each byte that is not part of valid UTF-8
/// becomes \ufffd. A text whose escaped form is longer than 80 characters is cut between two of its
/// characters and "..." follows the closing quote.
///
/// An object rather than a function, so that quoted(name) of a std::string never means std::quoted.
struct Quoted {
  std::string operator()(std::string_view text) const;
};
inline constexpr Quoted quoted;

/// The same without the quotes, cut after 200 characters: for file names and other text that
/// stands for itself in a message.
std::string one_line(std::string_view text);

/// JSON text with escapes in place of the characters that cannot be shown; it is cut after
/// `longest` characters, and "..." follows.
std::string shown(std::string_view text, size_t longest);

}  // namespace heed
