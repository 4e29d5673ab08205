#pragma once

#include <nlohmann/json.hpp>

/// Instantiated in base/json.cc. Precompiled headers have this line, so that not every file does
/// it.
extern template class nlohmann::basic_json<>;
