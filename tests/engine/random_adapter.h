#pragma once

#include <filesystem>

#include "heed/base/random.h"
#include "heed/checkpoint/adapter_directory.h"
#include "heed/checkpoint/model_directory.h"
#include "heed/checkpoint/module_pattern.h"

namespace heed::engine {

/// Writes an adapter with random matrices, large enough to change outputs.
inline std::filesystem::path write_adapter(const std::filesystem::path& folder,
                                           const std::filesystem::path& base, uint64_t seed) {
  const auto model = checkpoint::build_model(base);
  model::LoraAdapter adapter(seed);
  const auto rank = static_cast<int64_t>(1 + seed % 3);
  for (const model::LinearModule& module : checkpoint::select_modules(*model, {}))
    adapter.add(module, rank, 1.0f);
  for (Parameter& parameter : adapter.parameters().all())
    for (int64_t i = 0; i < parameter.value.elements(); ++i)
      parameter.value.data<float>()[i] +=
          0.3f * static_cast<float>(
                     CounterRandom(seed, parameter.name.size()).normal(static_cast<uint64_t>(i)));
  checkpoint::save_adapter(folder, *model, adapter,
                           {.base_model = "acme/base", .rank = rank, .alpha = 2});
  return folder;
}

}  // namespace heed::engine
