#pragma once

#include <map>
#include <string>
#include <string_view>

namespace heed::inspect {

/// printable(text) as content or quoted attribute value of HTML and XML.
std::string escaped(std::string_view text);

/// JSON text that is safe inside an HTML script element: <, > and & become \u003c, \u003e and
/// \u0026.
std::string json_in_html(std::string json);

/// `page` with each {{name}} replaced by its value; names inside values are not replaced. Throws
/// Error when a name has no value and when a value is not used.
std::string fill_template(std::string_view page, const std::map<std::string, std::string>& values);

}  // namespace heed::inspect
