#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heed::tasks {

/// What hparams.yaml says of a COMET model (Rei et al., 2020, 2022), as unbabel-comet 2.2 reads it.
struct CometSettings {
  /// What is scored: the vectors of source, translation and reference beside each other; source and
  /// translation alone; or one sequence of them all.
  enum class Kind { regression, referenceless, unified };
  enum class Pooling { average, maximum, first, last_layer };
  enum class Activation { tanh, sigmoid, none };

  Kind kind = Kind::regression;
  std::string encoder;                 // pretrained_model: a name of the hub
  std::optional<int64_t> layer;        // whose states are pooled; none: a mixture of all
  bool sparsemax = false;              // of the mixture's weights, in place of softmax
  bool layer_norm = false;             // of each layer before they are mixed
  Pooling pooling = Pooling::average;  // last_layer: the first state of the last layer
  std::vector<int64_t> hidden_sizes;   // of the estimator
  Activation activation = Activation::tanh, final_activation = Activation::none;
  /// Of a unified model: what follows the translation in its sequence.
  bool reads_source = true, reads_reference = true;
};

/// Reads a hparams.yaml. What concerns training alone is not used. Throws Error, naming the file
/// and the key, on what heed does not apply, on a key that unbabel-comet does not have, and on YAML
/// beyond what it writes: scalars and lists of them.
CometSettings read_comet_settings(const std::filesystem::path& file);

}  // namespace heed::tasks
