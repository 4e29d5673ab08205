#include "heed/base/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <charconv>

#include "heed/base/error.h"

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

/// Whether `path` still names the open file. False if its holder has removed it since.
bool is_at(const Descriptor& file, const std::filesystem::path& path) {
  struct stat opened {
  }, named{};
  return ::fstat(file.get(), &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace

DirectoryLock::DirectoryLock(const std::filesystem::path& directory) : file_(directory / kFile) {
  do {
    descriptor_ = Descriptor(::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (descriptor_.get() < 0) fail_system(directory, "cannot be written");
    const bool taken = ::flock(descriptor_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (taken)
      fail("{} is in use by {} ({} is locked)", directory.string(), holder(descriptor_),
           file_.string());
  } while (!is_at(descriptor_, file_));
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
