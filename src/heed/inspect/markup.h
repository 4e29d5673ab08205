#pragma once

#include <map>
#include <string>
#include <string_view>

namespace heed::inspect {

/// The Unicode scalar values of UTF-8 text; each byte that is not part of one becomes U+FFFD.
std::u32string code_points(std::string_view text);

/// UTF-8 of one scalar value.
std::string utf8(char32_t code_point);

/// Text that is safe to print anywhere: control characters, line separators and the marks that
/// reverse the direction of writing are shown as pictures or U+FFFD, broken UTF-8 as U+FFFD.
std::string printable(std::string_view text);

/// Columns of a terminal that one scalar value takes: 0 for combining marks, 2 for wide ones (East
/// Asian text, emoji), else 1.
int columns_of(char32_t code_point);

/// Columns of a terminal that printable() text takes.
int width_of(std::string_view text);

/// printable() text of at most `columns` columns (at least 1), cut with an ellipsis where longer.
std::string cut(std::string_view text, int columns);

/// printable() text as content or quoted attribute value of HTML and XML.
std::string escaped(std::string_view text);

/// A JSON text (UTF-8 or ASCII) made safe inside an HTML script element: <, >, & become \u003c ...
std::string json_in_html(std::string json);

/// `page` with each {{name}} replaced by its value, which is not searched again. Throws Error for a
/// name without a value and for one never used.
std::string filled(std::string_view page, const std::map<std::string, std::string>& values);

}  // namespace heed::inspect
