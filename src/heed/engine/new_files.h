#pragma once

#include <filesystem>
#include <string_view>

namespace heed::engine {

/// Throws Error when a new directory or file cannot be written at `target`, naming `what` it is to
/// be, or when it exists: files of another model must not mix with the new ones. An empty directory
/// may be there.
void require_new(std::string_view what, const std::filesystem::path& target, bool directory);

}  // namespace heed::engine
