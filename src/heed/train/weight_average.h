#pragma once

#include <filesystem>
#include <vector>

#include "heed/io/safetensors.h"

namespace heed::train {

/// The mean, in f32, of the weights of several files of one model (Vaswani et al. 2017, 6.1).
/// Throws Error when their tensors differ in name or shape.
std::vector<io::NamedTensor> average_weights(const std::vector<std::filesystem::path>& files);

}  // namespace heed::train
