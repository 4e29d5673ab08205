#pragma once

#include <string>

namespace heed::train {

/// The new name of a renamed configuration key: "run.max_steps" for "run.steps". Empty if `key` was
/// not renamed.
std::string current_key(const std::string& key);

}  // namespace heed::train
