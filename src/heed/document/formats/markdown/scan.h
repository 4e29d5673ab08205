#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed::document {

// Longer destinations, titles, labels and tags are text; the bound makes reading linear.
inline constexpr size_t kLongestMarkdownPart = 1000;

/// ASCII punctuation, which a backslash may stand before.
bool is_markdown_punctuation(char c);

/// Whether `inside` of "<...>" is a URL or an e-mail address.
bool is_autolink(std::string_view inside);

/// The bytes of an HTML tag, comment or the like at the beginning of a text, by CommonMark's rules;
/// 0, if there is none.
size_t size_of_inline_html(std::string_view html);

/// The byte behind "(destination 'title')", whose "(" is before byte `at`; 0, if it is none.
size_t end_of_destination(std::string_view text, size_t at);

/// A label without regard to case and white space.
std::string link_label(std::string_view label);

/// Text that reads as itself: with a backslash before what would be markup.
std::string escaped_markdown(std::string_view text);

/// The same within a table.
std::string escaped_table_cell(std::string_view text);

}  // namespace heed::document
