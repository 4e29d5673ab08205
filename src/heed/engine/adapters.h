#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/checkpoint/adapter_directory.h"
#include "heed/load_options.h"
#include "heed/model/transformer.h"

namespace heed::engine {

/// The adapters that were loaded with a model.
class LoadedAdapters {
 public:
  LoadedAdapters() = default;
  /// Loads the adapters, which find_adapter() has found, and attaches them to the model. Throws
  /// Error as checkpoint::load_adapter() and Transformer::require_adaptable() do, on one that
  /// replaces weights, on two adapters of one name, and on a scale that is not finite.
  LoadedAdapters(model::Transformer& model, const std::vector<AdapterOptions>& options);

  /// The adapters of these names, in their order. Throws Error that lists the known names on an
  /// unknown one, and on one that is given twice.
  std::vector<ScaledAdapter> named(const std::vector<std::string>& names) const;
  /// Settings in their files that have no effect.
  std::vector<std::string> warnings() const;

 private:
  struct Named {
    std::string name;
    checkpoint::LoadedAdapter loaded;
    float scale;
    ScaledAdapter scaled() const { return {&loaded.lora->updates(), scale}; }
  };
  std::vector<Named> adapters_;
};

}  // namespace heed::engine
