#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace heed::hub {

// Which files of a repository heed reads.

inline constexpr const char* kConfigFile = "config.json";
inline constexpr const char* kModulesFile = "modules.json";
inline constexpr const char* kIndexFile = "model.safetensors.index.json";
inline constexpr const char* kAdapterConfigFile = "adapter_config.json";
inline constexpr const char* kAdapterWeightsFile = "adapter_model.safetensors";

/// Files beside the weights; all but config.json are optional. One that a repository lacks changes
/// what heed does, so a snapshot is complete when each of them is there or known not to exist.
std::span<const std::string> settings_files();

/// Files each of which holds all weights: as published, and as heed quantize writes them.
std::span<const std::string> whole_weights();

/// The files of a LoRA adapter.
std::span<const std::string> adapter_files();

/// The shards that an index names. Throws Error when it is damaged or names other than safetensors
/// files in its own folder.
std::vector<std::string> shards_of(const std::filesystem::path& index);

/// The settings of the modules that sentence-transformers' modules.json lists
/// ("1_Pooling/config.json"). Throws Error when it is damaged.
std::vector<std::string> module_settings(const std::filesystem::path& modules);

}  // namespace heed::hub
