#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "heed/text/regex/regex.h"

namespace heed::text {

/// The member "pattern" of a component: {"String": text} or {"Regex": expression}.
Regex read_pattern(const nlohmann::json& component, const std::string& file);

}  // namespace heed::text
