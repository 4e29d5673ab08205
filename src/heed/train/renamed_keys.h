#pragma once

#include <string>

namespace heed::train {

/// The key of a configuration file that replaced `key` ("run.steps"); empty when none did.
std::string current_key(const std::string& key);

}  // namespace heed::train
