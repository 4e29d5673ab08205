#pragma once

#include <filesystem>

#include "heed/base/descriptor.h"

namespace heed {

/// An exclusive claim on a directory, by a lock (flock) on a file in it. The lock ends with the
/// process, even if that is killed: a file that is left behind locks nothing. The lock is advisory:
/// it excludes only processes that take it. On a file system without locks it is always granted.
class DirectoryLock {
 public:
  /// The name of the file. It holds the process's number.
  static constexpr const char* kFile = "heed.lock";

  /// Throws Error with the number of the holder when the directory is already locked, even by this
  /// process; with the system's reason when the file cannot be created.
  explicit DirectoryLock(const std::filesystem::path& directory);
  /// Removes the file.
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  std::filesystem::path file_;
  Descriptor descriptor_;
};

}  // namespace heed
