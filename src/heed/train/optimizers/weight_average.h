#pragma once

#include <filesystem>
#include <vector>

#include "heed/io/safetensors.h"

namespace heed::train {

/// The mean in f32 of the weights in several files (Vaswani et al. 2017, section 6.1). Throws Error
/// unless all files have tensors of the same names and shapes.
std::vector<io::NamedTensor> average_weights(const std::vector<std::filesystem::path>& files);

}  // namespace heed::train
