#include "heed/checkpoint/adapter_config.h"

#include <algorithm>
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

/// The fields of PEFT's LoraConfig that are read here.
constexpr std::string_view kReadOfAdapters[] = {"peft_type",
                                                "base_model_name_or_path",
                                                "r",
                                                "lora_alpha",
                                                "lora_dropout",
                                                "use_rslora",
                                                "alpha_pattern",
                                                "rank_pattern",
                                                "target_modules",
                                                "exclude_modules",
                                                "layers_to_transform",
                                                "layers_pattern",
                                                "init_lora_weights",
                                                "bias"};

/// Those that do not change what an adapter does once it is trained.
constexpr std::string_view kIgnoredOfAdapters[] = {
    "task_type",      "auto_mapping",    "peft_version",  "revision",       "parent_library",
    "inference_mode", "fan_in_fan_out",  "loftq_config",  "eva_config",     "corda_config",
    "lora_ga_config", "megatron_config", "megatron_core", "runtime_config", "qalora_group_size"};

/// Those that change it unless they are null, false or empty.
constexpr std::string_view kRefusedOfAdapters[] = {
    "use_dora",           "lora_bias",         "modules_to_save",         "layer_replication",
    "use_qalora",         "target_parameters", "alora_invocation_tokens", "trainable_token_indices",
    "ensure_weight_tying"};

/// Variants of LoRA, which any object selects, even an empty one.
constexpr std::string_view kVariantsOfLora[] = {"arrow_config", "use_bdlora", "kasa_config",
                                                "velora_config", "monteclora_config"};

/// Whether a field has the value of a file that does not use it.
bool is_unused(const nlohmann::json& value) {
  return value.is_null() || value == false || (value.is_structured() && value.empty());
}

/// Other initialisations (PiSSA, OLoRA, CorDA, LoftQ, LoRA-GA) change the weights of the base model
/// when an adapter is made, and its matrices mean something beside those weights only.
void require_unchanged_base(const nlohmann::json& json, const std::string& file) {
  const auto found = json.find("init_lora_weights");
  if (found == json.end() || found->is_null() || found->is_boolean()) return;
  for (const char* const known : {"gaussian", "eva", "orthogonal", "mica"})
    if (*found == known) return;
  fail(
      "{}: init_lora_weights is {}, expected true, false, gaussian, eva, orthogonal or mica: the "
      "others change the weights of the base model (PEFT's save_pretrained() makes an adapter of "
      "the unchanged model with path_initial_model_for_weight_conversion)",
      file, one_line(dump_json(*found)));
}

/// Checks the fields that say what kind of adapter this is. Returns warnings.
std::vector<std::string> check_fields(const nlohmann::json& json, const std::string& file) {
  const auto type = get<std::string>(json, "peft_type", file);
  require(type == "LORA", "{}: peft_type is {}, expected LORA", file, quoted(type));
  const auto bias = get_or<std::string>(json, "bias", "none", file);
  require(bias == "none", "{}: bias is {}, expected none: heed does not train biases", file,
          quoted(bias));
  require_unchanged_base(json, file);
  std::vector<std::string> warnings;
  const auto among = [](const auto& list, std::string_view key) {
    return std::ranges::find(list, key) != std::end(list);
  };
  for (const auto& [key, value] : json.items()) {
    if (among(kReadOfAdapters, key) || among(kIgnoredOfAdapters, key)) continue;
    const bool variant = among(kVariantsOfLora, key),
               known = variant || among(kRefusedOfAdapters, key);
    if (variant ? value.is_null() : is_unused(value)) continue;
    const std::string text = one_line(dump_json(value));
    require(!known, "{}: {} is {}, which heed does not support", file, key, text);
    warnings.push_back(fmt::format("{}: {} is {} and is ignored: it is no field of PEFT's LoRA",
                                   file, one_line(key), text));
  }
  return warnings;
}

/// A number of the file that scales updates.
double checked_number(double value, const std::string& what, const std::string& file) {
  require(std::isfinite(static_cast<float>(value)), "{}: {} is {}, expected a number that fits f32",
          file, what, value);
  return value;
}

/// The value of the first pattern that matches a module.
template <typename T>
T matched(const std::vector<std::pair<std::string, T>>& patterns, const std::string& module,
          T otherwise) {
  for (const auto& [pattern, value] : patterns)
    if (ModulePattern(pattern, ModulePattern::Match::ending, "a pattern").matches(module))
      return value;
  return otherwise;
}

/// Numbers by patterns of modules, in the order of the file: the first pattern counts, and
/// nlohmann::json sorts the keys of objects.
std::vector<std::pair<std::string, double>> read_patterns(const nlohmann::ordered_json& json,
                                                          const char* key,
                                                          const std::string& file) {
  std::vector<std::pair<std::string, double>> patterns;
  const auto found = json.find(key);
  if (found == json.end() || found->is_null() || found->empty()) return patterns;
  require(found->is_object(), "{}: {} is {}, expected an object", file, key,
          one_line(dump_json(*found)));
  for (const auto& [pattern, value] : found->items()) {
    require(value.is_number(), "{}: {} has {} for {}, expected a number", file, key,
            one_line(dump_json(value)), quoted(pattern));
    ModulePattern(pattern, ModulePattern::Match::ending, fmt::format("{}: {}", file, key));
    patterns.emplace_back(pattern, checked_number(value.get<double>(), key, file));
  }
  return patterns;
}

/// The same for ranks.
std::vector<std::pair<std::string, int64_t>> read_ranks(const nlohmann::ordered_json& json,
                                                        const std::string& file) {
  constexpr double kMaxRank = 1 << 30;
  std::vector<std::pair<std::string, int64_t>> ranks;
  for (const auto& [pattern, rank] : read_patterns(json, "rank_pattern", file)) {
    require(rank >= 1 && rank <= kMaxRank && rank == std::floor(rank),
            "{}: rank_pattern has {} for {}, expected a positive integer", file, rank,
            quoted(pattern));
    ranks.emplace_back(pattern, static_cast<int64_t>(rank));
  }
  return ranks;
}

}  // namespace

float AdapterConfig::scale_of(const std::string& module, int64_t module_rank) const {
  const auto r = static_cast<double>(module_rank);
  return static_cast<float>(matched(alpha_pattern, module, alpha) / (rslora ? std::sqrt(r) : r));
}

int64_t AdapterConfig::rank_of(const std::string& module) const {
  return matched(rank_pattern, module, rank);
}

AdapterConfig read_adapter_config(const std::filesystem::path& directory) {
  require(path_is_directory(directory), "{} is not the directory of an adapter{}",
          directory.string(), path_exists(directory) ? "" : ": it does not exist");
  const std::string file = (directory / kFile).string(), text = read_file(directory / kFile);
  const nlohmann::json json = parse_json(text, file);
  require(json.is_object(), "{} is not an object", file);
  AdapterConfig config;
  config.warnings = check_fields(json, file);
  config.base_model = get_or<std::string>(json, "base_model_name_or_path", "", file);
  config.rank = get_or<int64_t>(json, "r", 8, file);
  config.alpha = checked_number(get_or(json, "lora_alpha", 8.0, file), "lora_alpha", file);
  config.rslora = get_or(json, "use_rslora", false, file);
  config.dropout = get_or(json, "lora_dropout", 0.0f, file);
  const nlohmann::ordered_json ordered = parse_ordered_json(text, file);
  config.alpha_pattern = read_patterns(ordered, "alpha_pattern", file);
  config.rank_pattern = read_ranks(ordered, file);
  config.modules = AdapterModules(json, file, config.warnings);
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
