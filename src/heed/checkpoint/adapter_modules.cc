#include "heed/checkpoint/adapter_modules.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"

namespace heed::checkpoint {
namespace {

/// The member of an object; null where it is missing or has nothing to say.
const nlohmann::json* given(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  const bool empty = found == json.end() || found->is_null() ||
                     ((found->is_array() || found->is_string()) && found->empty());
  return empty ? nullptr : &*found;
}

/// A string, or a list of them.
std::vector<std::string> one_or_more(const nlohmann::json& json, const char* key,
                                     const std::string& file) {
  const nlohmann::json* const found = given(json, key);
  if (!found) return {};
  if (found->is_string()) return {found->get<std::string>()};
  return get<std::vector<std::string>>(json, key, file);
}

}  // namespace

bool AdapterModules::Names::contain(const std::string& module) const {
  if (pattern) return pattern->matches(module);
  return std::ranges::any_of(endings, [&](const std::string& ending) {
    return module == ending || module.ends_with("." + ending);
  });
}

std::optional<AdapterModules::Names> AdapterModules::read_names(
    const nlohmann::json& json, const char* key, const std::string& file,
    std::vector<std::string>& warnings) {
  const nlohmann::json* const found = given(json, key);
  if (!found) return std::nullopt;
  if (!found->is_string())
    return Names{.endings = get<std::vector<std::string>>(json, key, file), .pattern = {}};
  try {
    return Names{.endings = {},
                 .pattern = ModulePattern(found->get<std::string>(), ModulePattern::Match::whole,
                                          fmt::format("{}: {}", file, key))};
  } catch (const Error& error) {
    warnings.push_back(fmt::format("{} and is ignored", error.what()));
    return std::nullopt;
  }
}

void AdapterModules::read_layers(const nlohmann::json& json, const std::string& file) {
  const nlohmann::json* const found = given(json, "layers_to_transform");
  if (!found) return;
  require(!targets_ || !targets_->pattern,
          "{}: layers_to_transform is {}, which a target_modules that is a regular expression "
          "excludes",
          file, excerpt(*found));
  layers_ = found->is_number_integer()
                ? std::vector{get<int64_t>(json, "layers_to_transform", file)}
                : get<std::vector<int64_t>>(json, "layers_to_transform", file);
  for (const std::string& pattern : one_or_more(json, "layers_pattern", file))
    lists_.emplace_back(pattern, ModulePattern::Match::ending,
                        fmt::format("{}: layers_pattern", file));
}

AdapterModules::AdapterModules(const nlohmann::json& json, const std::string& file,
                               std::vector<std::string>& warnings)
    : excluded_(read_names(json, "exclude_modules", file, warnings)) {
  // An empty list selects nothing.
  const nlohmann::json targets = json.value("target_modules", nlohmann::json());
  if (targets.is_null())
    warnings.push_back(fmt::format(
        "{}: target_modules is null, for which PEFT has a default of each architecture; heed takes "
        "all modules that have matrices",
        file));
  if (targets == nlohmann::json::array()) targets_.emplace();
  if (targets != "all-linear" && !targets_)
    targets_ = read_names(json, "target_modules", file, warnings);
  read_layers(json, file);
}

/// The number of a module's layer: the first number in its name that follows a list of layers.
std::optional<int64_t> AdapterModules::layer_of(const std::string& module) const {
  for (size_t dot = module.find('.'); dot != module.npos; dot = module.find('.', dot + 1)) {
    const size_t end = module.find('.', dot + 1);
    if (end == module.npos) break;
    int64_t number = 0;
    const char* const last = module.data() + end;
    const auto [stop, problem] = std::from_chars(module.data() + dot + 1, last, number);
    if (problem != std::errc() || stop != last || number < 0) continue;
    const std::string list = module.substr(0, dot);
    // Without a pattern PEFT wants a list that is a member of something.
    if (lists_.empty()
            ? list.find('.') != list.npos
            : std::ranges::any_of(lists_, [&](const auto& p) { return p.matches(list); }))
      return number;
  }
  return std::nullopt;
}

bool AdapterModules::selects(const std::string& module) const {
  if (excluded_ && excluded_->contain(module)) return false;
  if (targets_ && !targets_->contain(module)) return false;
  if (layers_.empty() || (targets_ && targets_->pattern)) return true;
  const std::optional<int64_t> layer = layer_of(module);
  return layer && std::ranges::find(layers_, *layer) != layers_.end();
}

}  // namespace heed::checkpoint
