#pragma once

#include <filesystem>
#include <vector>

#include "heed/io/gguf/metadata.h"

namespace heed::io {

/// The other files of a model that is split over several, "NAME-00001-of-00003.gguf" and so on, of
/// which `path` is the first; empty for a model in one file. Throws Error when `path` is not the
/// first, or its name or `metadata` (split.no, split.count) do not fit together.
std::vector<std::filesystem::path> other_split_files(const std::filesystem::path& path,
                                                     const GgufMetadata& metadata);

/// Throws Error unless the file at `path` is number `number`, counted from 0, of `count` files.
void check_split_file(const std::filesystem::path& path, const GgufMetadata& metadata,
                      int64_t number, int64_t count);

}  // namespace heed::io
