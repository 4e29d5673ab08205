#include "heed/data/documents.h"

#include <algorithm>

#include "heed/base/ascii.h"
#include "heed/base/error.h"
#include "heed/base/text_lines.h"

namespace heed::data {
namespace {

std::vector<std::filesystem::path> files_of(const std::filesystem::path& path) try {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::filesystem::path> files;
  for (auto entry = std::filesystem::recursive_directory_iterator(path);
       entry != std::filesystem::recursive_directory_iterator(); ++entry) {
    const bool hidden = entry->path().filename().string().starts_with(".");
    if (hidden && entry->is_directory()) entry.disable_recursion_pending();
    if (!hidden && entry->is_regular_file() && entry->file_size() > 0)
      files.push_back(entry->path());
  }
  require(!files.empty(), "{} contains no text files", path.string());
  std::sort(files.begin(), files.end());
  return files;
} catch (const std::filesystem::filesystem_error& error) {
  fail("{}: cannot be read: {}", error.path1().string(), error.code().message());
}

}  // namespace

std::string_view name_of(DocumentEnd end) {
  switch (end) {
    case DocumentEnd::file:
      return "file";
    case DocumentEnd::line:
      return "line";
    case DocumentEnd::blank_line:
      return "blank-line";
  }
  return "?";
}

std::vector<std::string> read_documents(const std::filesystem::path& path, DocumentEnd end) {
  std::vector<std::string> documents;
  std::string text;
  const auto end_document = [&] {
    if (!text.empty()) text.pop_back();  // the last line end does not belong to the text
    if (!is_blank(text)) documents.push_back(std::move(text));
    text.clear();
  };
  for (const std::filesystem::path& file : files_of(path)) {
    for (const std::string& line : read_lines(file)) {
      const bool separates = end == DocumentEnd::blank_line && is_blank(line);
      if (!separates) text.append(line).append("\n");
      if (separates || end == DocumentEnd::line) end_document();
    }
    end_document();
  }
  require(!documents.empty(), "{} contains no text", path.string());
  return documents;
}

}  // namespace heed::data
