#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "heed/checkpoint/module_pattern.h"

namespace heed::checkpoint {

/// The modules that target_modules, exclude_modules, layers_to_transform and layers_pattern of an
/// adapter_config.json select, as PEFT reads them: it leaves out the matrices of all others.
class AdapterModules {
 public:
  /// Selects all modules.
  AdapterModules() = default;
  /// Throws Error, naming the field, on one that is malformed. A regular expression that heed
  /// cannot read selects all modules that have matrices, and adds a warning.
  AdapterModules(const nlohmann::json& json, const std::string& file,
                 std::vector<std::string>& warnings);

  bool selects(const std::string& module) const;

 private:
  /// Names or endings of names, or a regular expression for whole names.
  struct Names {
    std::vector<std::string> endings;
    std::optional<ModulePattern> pattern;
    bool contain(const std::string& module) const;
  };
  static std::optional<Names> read_names(const nlohmann::json& json, const char* key,
                                         const std::string& file,
                                         std::vector<std::string>& warnings);
  void read_layers(const nlohmann::json& json, const std::string& file);
  std::optional<int64_t> layer_of(const std::string& module) const;

  std::optional<Names> targets_, excluded_;  // none: all, and none
  std::vector<int64_t> layers_;              // empty: all
  std::vector<ModulePattern> lists_;         // of layers; empty: any
};

}  // namespace heed::checkpoint
