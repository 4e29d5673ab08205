#pragma once

#include <filesystem>
#include <string_view>

namespace heed {

/// Checks early that the result of long work can be written to a file at `path`. Throws Error,
/// naming `what` (an option), when its folder does not exist or something other than a regular file
/// is there, and with the system's reason when it cannot be written.
void require_output_file(std::string_view what, const std::filesystem::path& path);

}  // namespace heed
