#include "heed/checkpoint/adapter_config.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/checkpoint/module_pattern.h"

namespace heed::checkpoint {
namespace {

constexpr const char* kFile = "adapter_config.json";

/// Whether a field has the value of a file that does not use it.
bool is_unused(const nlohmann::json& value) {
  return value.is_null() || value == false || (value.is_structured() && value.empty());
}

/// Fields that would change what the matrices mean.
constexpr const char* kUnsupported[] = {"use_dora",
                                        "lora_bias",
                                        "modules_to_save",
                                        "layer_replication",
                                        "use_qalora",
                                        "target_parameters",
                                        "alora_invocation_tokens",
                                        "trainable_token_indices",
                                        "arrow_config",
                                        "use_bdlora",
                                        "kasa_config",
                                        "velora_config"};

void require_supported(const nlohmann::json& json, const std::string& file) {
  const auto type = get<std::string>(json, "peft_type", file);
  require(type == "LORA", "{}: peft_type is {}, expected LORA", file, quoted(type));
  const auto bias = get_or<std::string>(json, "bias", "none", file);
  require(bias == "none", "{}: bias is {}, expected none: heed does not train biases", file,
          quoted(bias));
  for (const char* field : kUnsupported)
    if (json.contains(field) && !is_unused(json[field]))
      fail("{}: {} is {}, which heed does not support", file, field,
           one_line(dump_json(json[field])));
}

/// A number of the file that scales updates.
double checked_number(double value, const std::string& what, const std::string& file) {
  require(std::isfinite(static_cast<float>(value)), "{}: {} is {}, expected a number that fits f32",
          file, what, value);
  return value;
}

}  // namespace

float AdapterConfig::scale_of(const std::string& module, int64_t module_rank) const {
  double own = alpha;
  for (const auto& [pattern, value] : alpha_pattern)
    if (ModulePattern(pattern, ModulePattern::Match::ending, "alpha_pattern").matches(module)) {
      own = value;
      break;
    }
  const auto r = static_cast<double>(module_rank);
  return static_cast<float>(own / (rslora ? std::sqrt(r) : r));
}

AdapterConfig read_adapter_config(const std::filesystem::path& directory) {
  require(path_is_directory(directory), "{} is not the directory of an adapter{}",
          directory.string(), path_exists(directory) ? "" : ": it does not exist");
  const std::string file = (directory / kFile).string(), text = read_file(directory / kFile);
  const nlohmann::json json = parse_json(text, file);
  require(json.is_object(), "{} is not an object", file);
  require_supported(json, file);
  AdapterConfig config;
  config.base_model = get_or<std::string>(json, "base_model_name_or_path", "", file);
  config.rank = get_or<int64_t>(json, "r", 8, file);
  config.alpha = checked_number(get_or(json, "lora_alpha", 8.0, file), "lora_alpha", file);
  config.rslora = get_or(json, "use_rslora", false, file);
  config.dropout = get_or(json, "lora_dropout", 0.0f, file);
  if (!json.contains("alpha_pattern") || is_unused(json["alpha_pattern"])) return config;
  require(json["alpha_pattern"].is_object(), "{}: alpha_pattern is {}, expected an object", file,
          one_line(dump_json(json["alpha_pattern"])));
  // The first pattern counts, and nlohmann::json sorts the keys of objects.
  const auto in_order = nlohmann::ordered_json::parse(text)["alpha_pattern"];
  for (const auto& [pattern, value] : in_order.items()) {
    require(value.is_number(), "{}: alpha_pattern has {} for {}, expected a number", file,
            one_line(dump_json(value)), quoted(pattern));
    ModulePattern(pattern, ModulePattern::Match::ending, file + ": alpha_pattern");
    config.alpha_pattern.emplace_back(pattern,
                                      checked_number(value.get<double>(), "alpha_pattern", file));
  }
  return config;
}

std::string adapter_config_text(const AdapterConfig& config, const WrittenModules& modules) {
  nlohmann::ordered_json alphas = nlohmann::ordered_json::object();
  for (const auto& [pattern, alpha] : config.alpha_pattern) alphas[pattern] = alpha;
  nlohmann::ordered_json ranks = nlohmann::ordered_json::object();
  for (const auto& [module, rank] : modules.other_ranks) ranks[module] = rank;
  nlohmann::ordered_json json = {{"peft_type", "LORA"},
                                 {"task_type", nullptr},
                                 {"base_model_name_or_path", config.base_model},
                                 {"inference_mode", true},
                                 {"r", config.rank},
                                 {"lora_alpha", config.alpha},
                                 {"lora_dropout", config.dropout},
                                 {"use_rslora", config.rslora},
                                 {"alpha_pattern", alphas},
                                 {"rank_pattern", ranks},
                                 {"target_modules", modules.target_modules},
                                 {"fan_in_fan_out", modules.transposed},
                                 {"bias", "none"},
                                 {"modules_to_save", nullptr}};
  if (!modules.task_type.empty()) json["task_type"] = modules.task_type;
  return dump_json(json, {.indent = 2}) + "\n";
}

}  // namespace heed::checkpoint
