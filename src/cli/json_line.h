#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace heed::cli {

/// A value as one line of JSON. Bytes of texts that are not UTF-8 become U+FFFD: file names may
/// have such, and the library would throw its own exception.
inline std::string json_line(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

}  // namespace heed::cli
