#pragma once

#include <filesystem>
#include <string_view>

namespace heed::cli {

/// To be called before long work whose result goes into a file at `path`. Throws Error, naming the
/// option, when its folder does not exist and when something other than a regular file is there;
/// and with the system's reason when it may not be written.
void require_output_file(std::string_view option, const std::filesystem::path& path);

}  // namespace heed::cli
