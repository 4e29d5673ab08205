#pragma once

#include <filesystem>

#include "heed/train/optimizer.h"
#include "heed/train/step_gradients.h"

namespace heed::train {

/// Writes the moments of all parameters as whole tensors, whatever the number of ranks that have
/// them: rank 0 writes one after the other as it gets them. Collective. Throws Error when the file
/// cannot be written.
void write_moments(const std::filesystem::path& path, const Optimizer& optimizer,
                   const StepGradients& gradients, distribute::Group& group);

/// Reads this rank's moments. Throws Error when one is missing or has another shape.
void read_moments(const std::filesystem::path& path, Optimizer& optimizer);

}  // namespace heed::train
