#pragma once

#include "heed/checkpoint/model_directory.h"
#include "tests/base/testing.h"
#include "tests/checkpoint/golden.h"

namespace heed::checkpoint {

/// Expects the gradients of all parameters of `model` to equal those in `expected`, which have the
/// names of the family's files. Overwrites the parameters' values.
inline void expect_gradients(model::Transformer& model, Gradients& gradients,
                             const io::SafetensorsFile& expected) {
  // Gradients are stored as values are: stored_weights() names and joins them.
  for (Parameter& parameter : model.parameters().all())
    parameter.value = gradients.of(parameter).materialized();
  const model::Family& family = model::family_for(model.config());
  double largest = 0;
  for (const auto& [name, gradient] : stored_weights(model, family))
    for (const float g : gradient.values<float>())
      largest = std::max(largest, std::abs(static_cast<double>(g)));
  for (const auto& [name, gradient] : stored_weights(model, family)) {
    const Tensor reference = expected.get("gradient." + name);
    double size = 0;
    for (const float g : reference.values<float>())
      size = std::max(size, std::abs(static_cast<double>(g)));
    // Softmax is invariant to a constant added to all scores: the gradient of k_proj.bias consists
    // of rounding errors, in both.
    if (size < 1e-6 * largest) {
      for (const float g : gradient.values<float>()) EXPECT_NEAR(g, 0.0, 1e-6 * largest) << name;
    } else {
      EXPECT_LT(difference(gradient, reference), 1e-4) << name;
    }
  }
}

/// Saves `model`, expects the tensors and the configuration of the directory `original`, and loads
/// what it saved.
inline std::unique_ptr<model::Transformer> save_and_load(const model::Transformer& model,
                                                         const std::filesystem::path& original) {
  const TemporaryDirectory folder;
  save_model(folder.path(), model, {});
  const auto was = io::SafetensorsFile::open(original / "model.safetensors");
  const auto is = io::SafetensorsFile::open(folder / "model.safetensors");
  std::vector<std::string> names = was->names();
  if (model.config().positions == model::PositionKind::sinusoidal)  // tables may be there
    std::erase_if(names, [](const std::string& name) {
      return name.find(".embed_positions.") != std::string::npos;
    });
  EXPECT_EQ(is->names(), names);
  for (const std::string& name : names) {
    EXPECT_EQ(is->get(name).shape(), was->get(name).shape()) << name;
    EXPECT_EQ(difference(is->get(name), was->get(name)), 0) << name;
  }
  EXPECT_EQ(config_of(folder / "config.json"), config_of(original / "config.json"));
  return load_model(folder.path());
}

}  // namespace heed::checkpoint
