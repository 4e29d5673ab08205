#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace heed::generate {

/// Throws Error, naming file, key and value, when a setting that heed does not apply has a value
/// that changes outputs in any way of decoding.
void refuse_unsupported_settings(const nlohmann::json& json, const std::string& file);

/// The same for settings that change only how outputs are sampled: the message, or "".
std::string unsupported_sampling(const nlohmann::json& json, const std::string& file);

/// A warning for each key that is neither a setting of `transformers` nor known to matter.
std::vector<std::string> unknown_settings(const nlohmann::json& json, const std::string& file);

}  // namespace heed::generate
