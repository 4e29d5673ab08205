#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace heed {

/// The contents of a regular file. Throws Error, with the system's reason, when it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// A file mapped into memory, private and writable: what is written stays in this process.
class MappedFile {
 public:
  /// Throws Error, with the system's reason, when it cannot be mapped or is no regular file.
  static std::shared_ptr<MappedFile> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<std::byte> bytes() { return {data_, size_}; }

 private:
  MappedFile(std::byte* data, size_t size) : data_(data), size_(size) {}
  std::byte* data_;
  size_t size_;
};

/// A file that appears under its name whole or not at all: it is written beside its place,
/// synchronised with the disk, and renamed. Without commit() nothing changes.
class AtomicFile {
 public:
  /// Throws Error, with the system's reason, when the directory cannot be written.
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Throws Error, with the system's reason (disk full); the old file is then untouched.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  void commit();

 private:
  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
};

void write_file_atomically(const std::filesystem::path& path, std::string_view contents);

/// Makes the finished directory `fresh` appear as `target`, in place of what was there, in one step
/// (Linux' RENAME_EXCHANGE): a crash at any moment leaves the old or the new one whole under that
/// name.
void replace_directory(const std::filesystem::path& fresh, const std::filesystem::path& target);

/// Makes sure that the names in a directory have reached the disk.
void sync_directory(const std::filesystem::path& directory);

}  // namespace heed
