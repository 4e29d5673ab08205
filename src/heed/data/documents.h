#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace heed::data {

/// What ends a document within a file.
enum class DocumentEnd {
  file,       // nothing but the file's end
  line,       // every line is one
  blank_line  // a line without text
};

/// "file", "line" or "blank-line".
std::string_view name_of(DocumentEnd end);

/// The documents of a UTF-8 text file, or of all files of a folder and its sub-folders in the order
/// of their paths (hidden ones are left out). Lines end with "\n", whatever they ended with; a
/// leading byte order mark and documents without text are dropped. Throws Error when there is no
/// such file or folder, when nothing is left, and on text that is not UTF-8: then with the file and
/// the line.
std::vector<std::string> read_documents(const std::filesystem::path& path, DocumentEnd end);

}  // namespace heed::data
