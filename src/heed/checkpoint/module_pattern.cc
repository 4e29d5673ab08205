#include "heed/checkpoint/module_pattern.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "heed/base/error.h"
#include "heed/base/quote.h"

namespace heed::checkpoint {
namespace {

using model::LinearModule;

std::string ending_of(const std::string& module) {
  return module.substr(module.rfind('.') + 1);  // npos + 1 is 0
}

bool has_ending(const std::string& module, const std::string& ending) {
  return module == ending || module.ends_with("." + ending);
}

bool is_list(const std::string& text) {
  return std::ranges::all_of(text, [](unsigned char letter) {
    return std::isalnum(letter) || letter == '_' || letter == '.' || letter == ',';
  });
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> names(1);
  for (const char letter : list)
    if (letter == ',')
      names.emplace_back();
    else
      names.back() += letter;
  return names;
}

/// Whether "all-linear" includes a module.
bool is_plain_linear(const LinearModule& module) {
  const Parameter& weight = *module.parts.front().weight;
  return is_adaptable(weight.role) && weight.role != WeightRole::router && !weight.place.expert;
}

bool in_layers(const LinearModule& module, const std::vector<int64_t>& layers) {
  return layers.empty() ||
         std::ranges::find(layers, module.parts.front().weight->place.layer) != layers.end();
}

/// The modules that have one of the endings. Throws Error when an ending has no module.
std::vector<LinearModule> with_endings(const std::vector<LinearModule>& all,
                                       const std::vector<std::string>& endings) {
  std::set<std::string> known;
  for (const LinearModule& module : all) known.insert(ending_of(module.name));
  for (const std::string& ending : endings)
    require(std::ranges::any_of(all, [&](const auto& m) { return has_ending(m.name, ending); }),
            "no module of the model is called {}; its modules are {}", quoted(ending),
            fmt::join(known, ", "));
  std::vector<LinearModule> found;
  for (const LinearModule& module : all)
    if (std::ranges::any_of(endings, [&](const auto& e) { return has_ending(module.name, e); }))
      found.push_back(module);
  return found;
}

std::vector<LinearModule> in_any_layer(const std::vector<LinearModule>& all,
                                       const std::string& modules) {
  if (modules != "all-linear" && is_list(modules)) return with_endings(all, split(modules));
  std::vector<LinearModule> found;
  if (modules == "all-linear") {
    std::ranges::copy_if(all, std::back_inserter(found), is_plain_linear);
    return found;
  }
  const ModulePattern pattern(modules, ModulePattern::Match::whole, "the target modules");
  std::ranges::copy_if(all, std::back_inserter(found),
                       [&](const LinearModule& m) { return pattern.matches(m.name); });
  return found;
}

}  // namespace

ModulePattern::ModulePattern(const std::string& pattern, Match match, const std::string& where)
    : regex_(fmt::format("^{}(?:{})$", match == Match::ending ? "(?:.*\\.)?" : "", pattern),
             where) {}

bool ModulePattern::matches(const std::string& module) const {
  const std::vector<text::TextSpan> found = regex_.find_all(module);
  return found.size() == 1 && found.front().begin == 0 && found.front().end == module.size();
}

std::vector<LinearModule> select_modules(const model::Transformer& model,
                                         const AdapterTargets& targets) {
  std::vector<LinearModule> selected = in_any_layer(model::linear_modules(model), targets.modules);
  std::erase_if(selected, [&](const auto& module) { return !in_layers(module, targets.layers); });
  require(!selected.empty(), "the target modules {} select nothing{}", quoted(targets.modules),
          targets.layers.empty() ? "" : " in these layers");
  for (const LinearModule& module : selected)
    require(is_adaptable(module.parts.front().weight->role),
            "{} cannot have an adapter while the model runs", module.name);
  return selected;
}

std::vector<std::string> target_modules(std::span<const LinearModule> all,
                                        const model::LoraAdapter& adapter) {
  std::set<std::string> names, endings;
  for (const auto& module : adapter.modules()) {
    names.insert(module.linear.name);
    endings.insert(ending_of(module.linear.name));
  }
  const bool only_adapted = std::ranges::all_of(all, [&](const LinearModule& module) {
    return names.contains(module.name) || !endings.contains(ending_of(module.name));
  });
  const std::set<std::string>& chosen = only_adapted ? endings : names;
  return {chosen.begin(), chosen.end()};
}

}  // namespace heed::checkpoint
