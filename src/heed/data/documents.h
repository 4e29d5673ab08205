#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace heed::data {

/// Where a document ends within a file.
enum class DocumentEnd {
  file,       // at the end of the file
  line,       // at the end of each line
  blank_line  // at a line that is empty or white space
};

/// "file", "line" or "blank-line".
std::string_view name_of(DocumentEnd end);

/// The documents of a UTF-8 text file, or of all non-hidden files of a directory tree in the order
/// of their paths. Line ends become "\n"; a leading byte order mark and documents without text are
/// dropped. Throws Error when `path` does not exist, when no document is left, and, with file and
/// line, on text that is not valid UTF-8.
std::vector<std::string> read_documents(const std::filesystem::path& path, DocumentEnd end);

}  // namespace heed::data
