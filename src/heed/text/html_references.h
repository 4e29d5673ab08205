#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace heed::text {

/// A character reference of HTML at the beginning of a text.
struct HtmlReference {
  size_t size = 0;                    // of the reference in bytes; 0: there is none
  std::optional<char32_t> character;  // none: not a known one
};

/// Reads "&amp;", "&#228;" or "&#xe4;" at the beginning of `html`. The names are HTML 4's for
/// Latin-1 and typography.
HtmlReference read_html_reference(std::string_view html);

}  // namespace heed::text
