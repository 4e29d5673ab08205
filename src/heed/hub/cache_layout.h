#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heed::hub {

/// A repository in the cache, in the layout of Python's huggingface_hub:
///
///     CACHE/models--OWNER--NAME/refs/REVISION     (models--NAME without an owner)
///     CACHE/models--OWNER--NAME/blobs/CHECKSUM
///     CACHE/models--OWNER--NAME/blobs/CHECKSUM.incomplete
///     CACHE/models--OWNER--NAME/snapshots/COMMIT/FILE
///     CACHE/models--OWNER--NAME/.no_exist/COMMIT/FILE
///     CACHE/.locks/models--OWNER--NAME/CHECKSUM.lock
///
/// A ref holds the commit that a branch or tag stood for when it was downloaded, a blob the
/// contents of a file, or .incomplete the first part of them. FILE is a link to its blob in a
/// snapshot, and an empty file in .no_exist: the commit has no such file.
class RepositoryCache {
 public:
  RepositoryCache(const std::filesystem::path& cache, const std::string& repository);

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path snapshot(const std::string& commit) const;
  std::filesystem::path blob(const std::string& checksum) const;
  std::filesystem::path lock(const std::string& checksum) const;

  /// The repositories that the cache has a folder of, in the order of their names.
  static std::vector<std::string> all_in(const std::filesystem::path& cache);

  /// The commit that the cache knows for a revision; a commit stands for itself.
  std::optional<std::string> commit_of(const std::string& revision) const;
  bool has(const std::string& commit, const std::string& file) const;
  /// Whether the commit is known to have no such file.
  bool known_absent(const std::string& commit, const std::string& file) const;

  // These throw Error with the system's reason when the cache cannot be written.

  void set_commit(const std::string& revision, const std::string& commit) const;
  void mark_absent(const std::string& commit, const std::string& file) const;
  /// Makes a blob appear as `file` of a commit. Where the file system has no symbolic links, the
  /// blob itself is moved there.
  void link(const std::string& commit, const std::string& file, const std::string& checksum) const;

 private:
  std::filesystem::path folder_, locks_;
};

}  // namespace heed::hub
