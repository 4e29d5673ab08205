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

/// Whether `path` leads to a directory, or to a regular file; false when it does not exist. Throws
/// Error with the system's reason when the system cannot tell (a name too long, a loop of symbolic
/// links); std::filesystem::is_directory() would throw a filesystem_error instead.
bool path_is_directory(const std::filesystem::path& path);
bool path_is_file(const std::filesystem::path& path);

/// The contents of a regular file. Throws Error with the system's reason when it cannot be read,
/// and when `path` is not a regular file (a directory, a pipe, a device).
std::string read_file(const std::filesystem::path& path);

/// A regular file mapped into memory, private and writable (copy on write): writes never reach the
/// file. The file must not be truncated while it is mapped. heed itself only replaces whole files
/// (AtomicFile), which leaves mappings of the old one intact.
class MappedFile {
 public:
  /// Throws Error with the system's reason when the file cannot be mapped or is not a regular file.
  static std::shared_ptr<MappedFile> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// Aligned to a page; empty for an empty file.
  std::span<std::byte> bytes() { return {data_, size_}; }

 private:
  MappedFile(std::byte* data, size_t size) : data_(data), size_(size) {}
  std::byte* data_;
  size_t size_;
};

/// Replaces a file atomically: the contents are written to NAME.PID-COUNT.tmp in the same
/// directory, synchronised with the disk, and renamed by commit(). Without commit() the temporary
/// file is removed and nothing else changes. Keeps the permissions of the file that it replaces. A
/// symbolic link is replaced itself, not its target.
class AtomicFile {
 public:
  /// Throws Error with the system's reason when the directory cannot be written, and when `path`
  /// exists but is not a regular file.
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Both throw Error with the system's reason (such as a full disk) and leave the old file intact.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Whether the contents are on the disk before the file is replaced: without that, a crash of the
  /// system may leave a file with other contents.
  enum class Durability { synchronised, none };
  /// Must be called once, after the last write. Throws Error as write() does.
  void commit(Durability durability = Durability::synchronised);

 private:
  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
};

void write_file_atomically(const std::filesystem::path& path, std::string_view contents);

/// Whether `path` names the temporary file of an AtomicFile whose process was killed. A file with
/// the number of this process counts too (process numbers repeat in containers), so call this only
/// for directories in which this process has no AtomicFile open.
bool is_left_temporary(const std::filesystem::path& path);

/// Replaces the directory `target` by the finished directory `fresh` atomically (RENAME_EXCHANGE)
/// and then removes the old one, which now has the name `fresh`. A crash at any moment leaves
/// either the old or the new directory complete under the name `target`. On a file system without
/// RENAME_EXCHANGE (NFS) the old one is first renamed to `target`.old; see finish_replacement().
/// Throws Error with the reason of the system; `target` is then either unchanged or replaced.
void replace_directory(const std::filesystem::path& fresh, const std::filesystem::path& target);

/// Must be called before `target` is read, by the only process that may replace it: restores
/// `target` from `target`.old when a replace_directory() without RENAME_EXCHANGE was interrupted.
/// Otherwise does nothing.
void finish_replacement(const std::filesystem::path& target);

/// Throws Error, with the reason of the system, unless a file or a directory may be created at
/// `path`, with missing parent directories. For callers that compute for a long time before they
/// write.
void require_writable(const std::filesystem::path& path);

/// Creates a directory and its missing parents. Throws Error with the reason of the system.
void make_directory(const std::filesystem::path& path);
/// Removes a file, or a directory with its contents, if it exists. Throws Error with the reason of
/// the system.
void remove_tree(const std::filesystem::path& path);

/// Flushes the contents of a file to the disk.
void sync_file(const std::filesystem::path& path);
/// Flushes the entries of a directory to the disk.
void sync_directory(const std::filesystem::path& directory);

}  // namespace heed
