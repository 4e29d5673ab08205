#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

// The names of a GGUF file that is split over several: NAME-00001-of-00003.gguf and so on.

/// How the name of file `number`, counted from 0, of `count` files ends: "-00001-of-00003.gguf".
std::string split_ending(int64_t number, int64_t count);

/// The names of all files of the model that `file` is a part of; `file` itself if it is not split.
std::vector<std::string> split_files(const std::string& file);

}  // namespace heed
