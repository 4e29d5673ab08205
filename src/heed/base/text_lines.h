#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The lines of a UTF-8 text file, without line ends ("\n" or "\r\n", optional after the last line)
/// and without a leading byte order mark. Throws Error when the file cannot be read, is empty, or,
/// with the line, is not valid UTF-8.
std::vector<std::string> read_lines(const std::filesystem::path& path);

/// Calls visit(line, number) for each of them; numbers start at 1.
void for_each_line(const std::filesystem::path& path,
                   const std::function<void(std::string_view line, size_t number)>& visit);

}  // namespace heed
