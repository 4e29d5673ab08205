#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace heed {

/// True when `path` names something that exists; never throws.
bool path_exists(const std::filesystem::path& path);

/// The contents of a regular file. Throws Error, with the system's reason, when it cannot be read,
/// and when `path` names something else (a directory, a pipe, a device).
std::string read_file(const std::filesystem::path& path);

/// A regular file mapped into memory, private and writable: what is written stays in this process.
/// The mapping follows the file's contents, so nothing may cut the file while it is mapped; heed
/// itself only ever replaces whole files (AtomicFile), which leaves mappings of the old one alone.
class MappedFile {
 public:
  /// Throws Error, with the system's reason, when it cannot be mapped or is no regular file.
  static std::shared_ptr<MappedFile> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// Empty for an empty file; else aligned to a page.
  std::span<std::byte> bytes() { return {data_, size_}; }

 private:
  MappedFile(std::byte* data, size_t size) : data_(data), size_(size) {}
  std::byte* data_;
  size_t size_;
};

/// A file that appears under its name whole or not at all: it is written beside its place (as
/// NAME.PID-COUNT.tmp), synchronised with the disk, and renamed. Without commit() the temporary
/// file goes and nothing else changes. Keeps the permissions of the file that it replaces; replaces
/// a symbolic link, not what that points to.
class AtomicFile {
 public:
  /// Throws Error, with the system's reason, when the directory cannot be written, and when `path`
  /// is something else than a regular file.
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Both throw Error, with the system's reason (disk full); the old file is then untouched.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// To be called once, after the last write.
  void commit();

 private:
  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
};

void write_file_atomically(const std::filesystem::path& path, std::string_view contents);

/// Makes the finished directory `fresh` appear as `target`, in place of what was there, in one step
/// (Linux' RENAME_EXCHANGE), then removes the old one, which meanwhile bears the name of `fresh`: a
/// crash at any moment leaves the old or the new one whole under the name `target`. On a file
/// system without that step (NFS) the old one is called `target`.old for a moment; see
/// finish_replacement(). Throws Error, with the system's reason; `target` is then untouched or
/// replaced.
void replace_directory(const std::filesystem::path& fresh, const std::filesystem::path& target);

/// To be called before `target` is read: where a replace_directory() on a file system that cannot
/// exchange was cut short, puts the old directory back in its place. Otherwise does nothing.
void finish_replacement(const std::filesystem::path& target);

/// Makes sure that the names in a directory have reached the disk.
void sync_directory(const std::filesystem::path& directory);

}  // namespace heed
