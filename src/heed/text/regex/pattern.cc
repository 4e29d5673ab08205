#include "heed/text/regex/pattern.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"

namespace heed::text {

Regex read_pattern(const nlohmann::json& component, const std::string& file) {
  const auto found = component.find("pattern");
  require(found != component.end(), "{}: pattern is missing", file);
  // Files of the first versions have the text alone.
  if (found->is_string()) return Regex::literal(found->get<std::string>());
  if (found->is_object() && found->contains("Regex"))
    return Regex(get<std::string>(*found, "Regex", file), file);
  if (found->is_object() && found->contains("String"))
    return Regex::literal(get<std::string>(*found, "String", file));
  fail("{}: pattern is {}, expected an object with String or Regex", file, excerpt(*found));
}

}  // namespace heed::text
