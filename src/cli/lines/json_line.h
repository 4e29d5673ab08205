#pragma once

#include <string>

#include "heed/base/json.h"

namespace heed::cli {

/// A value as one line of JSON. Bytes that are not UTF-8, as file names may have, become U+FFFD;
/// the JSON library would throw its own exception.
inline std::string json_line(const nlohmann::ordered_json& value) {
  return dump_json(value, {.replace_invalid = true}) + '\n';
}

}  // namespace heed::cli
