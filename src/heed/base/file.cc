#include "heed/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "heed/base/error.h"

namespace heed {
namespace {

[[noreturn]] void fail_system(const std::filesystem::path& path, std::string_view what) {
  fail("{}: {}: {}", path.string(), what, std::strerror(errno));
}

/// Closes a descriptor when its scope ends.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

/// Opens for reading and returns the size; O_NONBLOCK keeps a named pipe from blocking the program.
int open_regular(const std::filesystem::path& path, size_t& size) {
  const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (number < 0) fail_system(path, "cannot be opened");
  struct stat status {};
  if (::fstat(number, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(number);
    fail("{}: is not a regular file", path.string());
  }
  size = static_cast<size_t>(status.st_size);
  return number;
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  size_t size = 0;
  const Descriptor file(open_regular(path, size));
  std::string contents(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t count = ::read(file.get(), contents.data() + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_system(path, "cannot be read");
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  contents.resize(done);
  return contents;
}

std::shared_ptr<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  size_t size = 0;
  const Descriptor file(open_regular(path, size));
  if (size == 0) return std::shared_ptr<MappedFile>(new MappedFile(nullptr, 0));
  void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) fail_system(path, "cannot be mapped");
  return std::shared_ptr<MappedFile>(new MappedFile(static_cast<std::byte*>(data), size));
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(data_, size_);
}

AtomicFile::AtomicFile(std::filesystem::path path)
    : path_(std::move(path)), temporary_(path_.string() + ".XXXXXX.tmp") {
  std::string name = temporary_.string();
  descriptor_ = ::mkostemps(name.data(), 4, O_CLOEXEC);
  if (descriptor_ < 0) fail_system(path_, "cannot be written");
  temporary_ = name;
  ::fchmod(descriptor_, 0644);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        ::write(descriptor_, bytes.data(), std::min(bytes.size(), size_t{1} << 30));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_system(path_, "cannot be written");
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
}

void AtomicFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) fail_system(path_, "cannot be written");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_system(path_, "cannot be replaced");
  ::close(std::exchange(descriptor_, -1));
  sync_directory(path_.parent_path());
}

void write_file_atomically(const std::filesystem::path& path, std::string_view contents) {
  AtomicFile file(path);
  file.write(contents);
  file.commit();
}

void replace_directory(const std::filesystem::path& fresh, const std::filesystem::path& target) {
  sync_directory(fresh);
  if (!std::filesystem::exists(target)) {
    if (::rename(fresh.c_str(), target.c_str()) != 0) fail_system(target, "cannot be made");
  } else if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) {
    std::filesystem::remove_all(fresh);
  } else {
    // A file system that cannot exchange: the old one stays beside until the new one is in place.
    const std::filesystem::path old = target.string() + ".old";
    std::filesystem::remove_all(old);
    if (::rename(target.c_str(), old.c_str()) != 0 || ::rename(fresh.c_str(), target.c_str()) != 0)
      fail_system(target, "cannot be replaced");
    std::filesystem::remove_all(old);
  }
  sync_directory(target.parent_path());
}

void sync_directory(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory.empty() ? "." : directory;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.get() < 0) fail_system(path, "cannot be opened");
  // Some file systems cannot synchronise a directory; that is no reason to fail.
  if (::fsync(file.get()) != 0 && errno != EINVAL) fail_system(path, "cannot be synchronised");
}

}  // namespace heed
