#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/file.h"

namespace heed::io {

/// The directory of a zip archive (APPNOTE.TXT 6.3.10), with the extension for more than 4 GB
/// (zip64), whose entries are stored as they are. The archive is mapped and entries are read in
/// place.
class ZipArchive {
 public:
  struct Entry {
    std::string_view name;
    size_t header = 0;          // where a header stands in the file, before the data
    size_t begin = 0, end = 0;  // the data: bytes [begin, end) of the file
  };

  /// Reads the whole directory. Throws Error that names the file and the entry: one that is
  /// compressed or encrypted, lies outside the file, overlaps another, has a name twice or other
  /// names in the directory and before its data; and when the directory is damaged or is that of
  /// an archive in several files. `file` is called `path` in messages.
  ZipArchive(std::shared_ptr<MappedFile> file, std::string path);

  /// Whether a file begins as such an archive does.
  static bool is_zip(std::span<const std::byte> file);

  /// In alphabetical order.
  const std::vector<Entry>& entries() const { return entries_; }
  /// Null when there is no such entry.
  const Entry* find(std::string_view name) const;
  std::span<const std::byte> bytes_of(const Entry& entry) const;

 private:
  std::shared_ptr<MappedFile> file_;
  std::string path_;
  std::vector<Entry> entries_;
};

}  // namespace heed::io
