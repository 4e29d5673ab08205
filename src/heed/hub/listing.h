#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace heed::hub {

/// A file of a repository.
struct ListedFile {
  uint64_t size = 0;
  /// 64 hexadecimal digits of SHA-256 for a file of Git LFS, else 40 of Git's SHA-1.
  std::string checksum;
};

/// The files of a repository at a commit, by their path.
struct Listing {
  std::string commit;  // 40 hexadecimal digits
  std::map<std::string, ListedFile, std::less<>> files;
};

/// Whether `text` consists of `digits` lower-case hexadecimal digits.
bool is_hexadecimal(std::string_view text, size_t digits);

/// The name of the repository that a response describes, OWNER/NAME: another one than was asked for
/// where that has moved or has no owner. Empty when the response has no such name.
std::string listed_repository(std::string_view json, const std::string& source);

/// Reads the hub's response to /api/models/OWNER/NAME/revision/REVISION?blobs=true. Files whose
/// path leaves the repository are left out. `source` names the response in messages. Throws Error
/// when a field is missing or of another form.
Listing parse_listing(std::string_view json, const std::string& source);

}  // namespace heed::hub
