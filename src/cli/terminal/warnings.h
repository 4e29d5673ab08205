#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heed::cli {

/// Prints a line on standard error: "heed: ...".
void print_message(const std::string& text);

/// Prints each on standard error: "heed: warning: ...". Of several ranks, rank 0 does.
void print_warnings(const std::vector<std::string>& warnings);

/// Prints those of the configuration of a model directory or GGUF file, for commands that leave
/// loading to the library.
void print_config_warnings(const std::filesystem::path& path);

}  // namespace heed::cli
