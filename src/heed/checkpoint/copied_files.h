#pragma once

#include <filesystem>
#include <vector>

namespace heed::checkpoint {

/// The files of a model directory, relative to it, that a copy of the model with other weights
/// takes over: the tokenizer's and the settings, including those of sentence-transformers' modules
/// in their folders.
std::vector<std::filesystem::path> copied_files(const std::filesystem::path& directory);

}  // namespace heed::checkpoint
