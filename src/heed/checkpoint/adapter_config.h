#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "heed/checkpoint/adapter_modules.h"

namespace heed::checkpoint {

/// What adapter_config.json says of a LoRA adapter, as Python's peft reads and writes it.
struct AdapterConfig {
  std::string base_model = {};  // base_model_name_or_path
  int64_t rank = 8;             // of new modules; a file's matrices say which rank they have
  double alpha = 8;
  bool rslora = false;  // scale = alpha / sqrt(rank) (Kalajdzievski 2023) instead of alpha / rank
  float dropout = 0.0f;
  /// alpha of modules whose names end with a pattern (ModulePattern); the first that matches.
  std::vector<std::pair<std::string, double>> alpha_pattern = {};
  /// The same for the rank.
  std::vector<std::pair<std::string, int64_t>> rank_pattern = {};
  AdapterModules modules = {};
  /// Fields of the file that PEFT does not know either.
  std::vector<std::string> warnings = {};

  /// The factor of a module's update.
  float scale_of(const std::string& module, int64_t module_rank) const;
  /// The rank of a module's matrices in a file.
  int64_t rank_of(const std::string& module) const;
};

/// Reads `directory`/adapter_config.json. Throws Error, naming the field and its value, on a type
/// other than LoRA and on what heed does not support: DoRA, biases, modules_to_save,
/// layer_replication, an initialisation that changes the base model (PiSSA), ...
AdapterConfig read_adapter_config(const std::filesystem::path& directory);

/// What a written adapter_config.json says beside the AdapterConfig.
struct WrittenModules {
  std::vector<std::string> target_modules;
  /// Of modules whose rank is not AdapterConfig::rank.
  std::vector<std::pair<std::string, int64_t>> other_ranks;
  bool transposed = false;  // fan_in_fan_out
  std::string task_type;    // "CAUSAL_LM", or empty
};
/// The text of adapter_config.json.
std::string adapter_config_text(const AdapterConfig& config, const WrittenModules& modules);

}  // namespace heed::checkpoint
