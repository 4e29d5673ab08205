#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace heed::hub {

// Which files of a repository heed reads.

inline constexpr const char* kConfigFile = "config.json";
inline constexpr const char* kModulesFile = "modules.json";
inline constexpr const char* kAdapterConfigFile = "adapter_config.json";

/// Files beside the weights; all but config.json are optional. One that a repository lacks changes
/// what heed does, so a snapshot is complete when each of them is there or known not to exist.
std::span<const std::string> settings_files();

/// Weights in a format that heed reads.
struct WeightFiles {
  std::vector<std::string> whole;  // files each of which holds all of them
  std::string index;               // names files that together do
  std::string shard_ending;        // of their names
};
/// Safetensors, as published and as heed quantize writes them, and the files of torch.save. Of a
/// repository with several the first is read.
std::span<const WeightFiles> weight_formats();

/// The files that may hold the matrices of a LoRA adapter, of which the first is read.
std::span<const std::string> adapter_weights();

/// The shards that an index of a format names. Throws Error when it is damaged or names other files
/// than those with the format's ending in its own folder.
std::vector<std::string> shards_of(const std::filesystem::path& index, const WeightFiles& format);

/// The settings of the modules that sentence-transformers' modules.json lists
/// ("1_Pooling/config.json") and, if they are wanted, the weights that a Dense has beside them.
/// Each is optional. Throws Error when it is damaged.
std::vector<std::string> module_files(const std::filesystem::path& modules, bool weights);

}  // namespace heed::hub
