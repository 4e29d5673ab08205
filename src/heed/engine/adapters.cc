#include "heed/engine/adapters.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/quote.h"

namespace heed {
namespace {

/// The last part of a path, which may end with a slash.
std::string last_part(const std::filesystem::path& path) {
  const std::filesystem::path normal = path.lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).filename().string();
}

}  // namespace

AdapterOptions find_adapter(const AdapterOptions& options, const HubOptions& hub) {
  AdapterOptions found = options;
  found.path = resolve_adapter(options.path, hub);
  if (!found.name.empty()) return found;
  const std::string& given = options.path.native();
  found.name =
      found.path == options.path ? last_part(options.path) : given.substr(given.find('/') + 1);
  return found;
}

namespace engine {

LoadedAdapters::LoadedAdapters(model::Transformer& model,
                               const std::vector<AdapterOptions>& options) {
  std::vector<ScaledAdapter> all;
  for (const AdapterOptions& one : options) {
    require(std::isfinite(one.scale), "the scale of the adapter {} is {}, expected a number",
            quoted(one.name), one.scale);
    for (const Named& other : adapters_)
      require(other.name != one.name, "two adapters are called {}", quoted(one.name));
    adapters_.push_back({one.name, checkpoint::load_adapter(one.path, model), one.scale});
    const checkpoint::LoadedAdapter& loaded = adapters_.back().loaded;
    if (!loaded.replaced.empty())
      fail(
          "{}: {} differs from the model's own weight, which other requests need (heed merge takes "
          "the adapter's)",
          one.path.string(), one_line(loaded.replaced.front().name));
    try {
      model.require_adaptable(adapters_.back().loaded.lora->updates());
    } catch (const Error& error) {
      fail("{}: {}", one.path.string(), error.what());
    }
    adapters_.back().loaded.lora->move_to(model.device());
    adapters_.back().loaded.lora->pack();
    all.push_back(adapters_.back().scaled());
  }
  if (!all.empty()) model.attach(std::move(all));
}

std::vector<std::string> LoadedAdapters::warnings() const {
  std::vector<std::string> all;
  for (const Named& one : adapters_)
    all.insert(all.end(), one.loaded.warnings.begin(), one.loaded.warnings.end());
  return all;
}

std::vector<ScaledAdapter> LoadedAdapters::named(const std::vector<std::string>& names) const {
  std::vector<ScaledAdapter> chosen;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(adapters_, name, &Named::name);
    std::string known;
    for (const Named& one : adapters_) known += (known.empty() ? "" : ", ") + quoted(one.name);
    require_input(found != adapters_.end(), "there is no adapter {}; loaded are {}", quoted(name),
                  known.empty() ? "none" : known);
    require_input(std::ranges::find(chosen, found->scaled()) == chosen.end(),
                  "the adapter {} is chosen twice", quoted(name));
    chosen.push_back(found->scaled());
  }
  return chosen;
}

}  // namespace engine
}  // namespace heed
