#include "heed/base/directory_lock.h"

#include <array>
#include <charconv>
#include <chrono>
#include <thread>

#include "heed/base/error.h"
#include "heed/base/file_lock.h"

namespace heed {
namespace {

/// "process 1234", or "another process" if the file does not contain its number.
std::string holder(const Descriptor& file) {
  std::array<char, 32> text;
  const ssize_t size = ::pread(file.get(), text.data(), text.size(), 0);
  pid_t process = 0;
  if (size > 0) std::from_chars(text.data(), text.data() + size, process);
  return process > 0 ? fmt::format("process {}", process) : "another process";
}

}  // namespace

DirectoryLock::DirectoryLock(const std::filesystem::path& directory) : file_(directory / kFile) {
  Descriptor other;
  std::optional<Descriptor> lock = try_lock_file(file_, &other);
  if (!lock) {  // perhaps only for an instant, by is_locked()
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    lock = try_lock_file(file_, &other);
  }
  if (!lock)
    fail("{} is in use by {} ({} is locked)", directory.string(), holder(other), file_.string());
  descriptor_ = std::move(*lock);
  const std::string number = fmt::format("{}\n", ::getpid());
  const bool written = ::ftruncate(descriptor_.get(), 0) == 0 &&
                       ::pwrite(descriptor_.get(), number.data(), number.size(), 0) > 0;
  // On a full disk the lock still holds, but messages cannot name its holder.
  static_cast<void>(written);
}

DirectoryLock::~DirectoryLock() {
  // Removed while the lock is still held, so that it cannot be another process's file.
  ::unlink(file_.c_str());
}

}  // namespace heed
