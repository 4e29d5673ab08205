#include "heed/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace heed {
namespace {

/// Whether `path` still names the open file. False if its holder has removed it since.
bool is_at(const Descriptor& file, const std::filesystem::path& path) {
  struct stat opened {
  }, named{};
  return ::fstat(file.get(), &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace

std::optional<Descriptor> try_lock_file(const std::filesystem::path& path, Descriptor* holder) {
  for (;;) {
    Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (file.get() < 0) fail_system(path.parent_path(), "cannot be written");
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      if (holder != nullptr) *holder = std::move(file);
      return std::nullopt;
    }
    if (is_at(file, path)) return file;
  }
}

bool is_locked(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return errno != ENOENT;
  return ::flock(file.get(), LOCK_SH | LOCK_NB) != 0;
}

}  // namespace heed
