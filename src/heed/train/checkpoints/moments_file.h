#pragma once

#include <filesystem>

#include "heed/train/optimizers/evaluated_weights.h"

namespace heed::train {

/// Writes the moments of all parameters as whole tensors, whatever the number of ranks that have
/// them: rank 0 writes one after the other as it gets them. With schedule_free, the weights that
/// are trained follow. Collective. Throws Error when the file cannot be written.
void write_moments(const std::filesystem::path& path, const Optimizer& optimizer,
                   const StepGradients& gradients, const EvaluatedWeights& evaluated,
                   distribute::Group& group);

/// Reads this rank's moments and, with schedule_free, the values of all parameters that are
/// trained. Throws Error when one is missing or has another shape.
void read_moments(const std::filesystem::path& path, Optimizer& optimizer,
                  const StepGradients& gradients);

}  // namespace heed::train
