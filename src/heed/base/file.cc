#include "heed/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <new>
#include <stdexcept>
#include <utility>

#include "heed/base/descriptor.h"
#include "heed/base/error.h"
#include "heed/base/system.h"

namespace heed {
namespace {

void require_regular(const std::filesystem::path& path, mode_t mode) {
  require(!S_ISDIR(mode), "{}: is a directory, expected a file", path.string());
  require(S_ISREG(mode), "{}: is not a regular file", path.string());
}

/// O_NONBLOCK, because opening a named pipe would block.
int open_for_reading(const std::filesystem::path& path) {
  const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (number < 0) fail_system(path, "cannot be opened");
  return number;
}

/// The size of an open regular file.
size_t size_of_regular(const Descriptor& file, const std::filesystem::path& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_system(path, "cannot be opened");
  require_regular(path, status.st_mode);
  return static_cast<size_t>(status.st_size);
}

/// Reads up to `room` bytes, fewer only at the end of the file; returns the number read.
size_t read_up_to(const Descriptor& file, char* to, size_t room,
                  const std::filesystem::path& path) {
  size_t done = 0;
  while (done < room) {
    const ssize_t count = ::read(file.get(), to + done, room - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_system(path, "cannot be read");
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

void rename_or_fail(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0)
    fail_system(to, fmt::format("cannot be made from {}", from.string()));
}

std::filesystem::path without_trailing_slash(const std::filesystem::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

std::filesystem::path old_name(const std::filesystem::path& target) {
  return target.string() + ".old";
}

}  // namespace

bool path_exists(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

namespace {

std::filesystem::file_type type_of(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_type type = std::filesystem::status(path, error).type();
  require(type != std::filesystem::file_type::none, "{}: {}", path.string(), error.message());
  return type;
}

}  // namespace

bool path_is_directory(const std::filesystem::path& path) {
  return type_of(path) == std::filesystem::file_type::directory;
}

bool path_is_file(const std::filesystem::path& path) {
  return type_of(path) == std::filesystem::file_type::regular;
}

std::string read_file(const std::filesystem::path& path) {
  const Descriptor file(open_for_reading(path));
  const size_t size = size_of_regular(file, path);
  try {
    std::string contents(size, '\0');
    contents.resize(read_up_to(file, contents.data(), size, path));
    // Files in /proc report size 0, and a file may have grown since fstat().
    std::array<char, 4096> more;
    while (const size_t count = read_up_to(file, more.data(), more.size(), path))
      contents.append(more.data(), count);
    return contents;
  } catch (const std::bad_alloc&) {
    fail("{}: {} bytes do not fit into memory", path.string(), size);
  } catch (const std::length_error&) {
    fail("{}: {} bytes do not fit into memory", path.string(), size);
  }
}

std::shared_ptr<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const Descriptor file(open_for_reading(path));
  const size_t size = size_of_regular(file, path);
  if (size == 0) return std::shared_ptr<MappedFile>(new MappedFile(nullptr, 0));
  // Pages are rarely written to, so no swap space is reserved for them.
  void* data =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.get(), 0);
  if (data == MAP_FAILED) fail_system(path, "cannot be mapped");
  return std::shared_ptr<MappedFile>(new MappedFile(static_cast<std::byte*>(data), size));
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(data_, size_);
}

bool is_left_temporary(const std::filesystem::path& path) {
  // Parses AtomicFile's suffix ".PID-COUNT.tmp" from the end.
  std::string_view name = path.native();
  constexpr std::string_view kEnd = ".tmp", kDigits = "0123456789";
  if (!name.ends_with(kEnd)) return false;
  name.remove_suffix(kEnd.size());
  const size_t dash = name.find_last_not_of(kDigits);
  if (dash == name.npos || name[dash] != '-' || dash + 1 == name.size()) return false;
  name = name.substr(0, dash);
  const size_t dot = name.find_last_not_of(kDigits);
  if (dot == name.npos || name[dot] != '.') return false;
  pid_t process = 0;
  std::from_chars(name.data() + dot + 1, name.data() + name.size(), process);
  const bool gone = process > 0 && ::kill(process, 0) != 0 && errno == ESRCH;
  return gone || process == ::getpid();
}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  struct stat old {};
  const bool replaces = ::stat(path_.c_str(), &old) == 0;
  if (replaces) require_regular(path_, old.st_mode);
  static std::atomic<int> count{0};
  do {
    temporary_ = fmt::format("{}.{}-{}.tmp", path_.string(), ::getpid(), count.fetch_add(1));
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) fail_system(path_, "cannot be written");
  if (replaces) ::fchmod(descriptor_, old.st_mode & 0777);
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

void AtomicFile::commit(Durability durability) {
  const bool synchronised = durability == Durability::synchronised;
  if (synchronised && ::fsync(descriptor_) != 0) fail_system(path_, "cannot be written");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_system(path_, "cannot be replaced");
  ::close(std::exchange(descriptor_, -1));
  if (synchronised) sync_directory(path_.parent_path());
}

void write_file_atomically(const std::filesystem::path& path, std::string_view contents) {
  AtomicFile file(path);
  file.write(contents);
  file.commit();
}

void replace_directory(const std::filesystem::path& fresh, const std::filesystem::path& target) {
  const std::filesystem::path from = without_trailing_slash(fresh);
  const std::filesystem::path to = without_trailing_slash(target);
  finish_replacement(to);
  sync_directory(from);
  if (!path_exists(to)) {
    rename_or_fail(from, to);
    return sync_directory(to.parent_path());
  }
  // exchange_names() also accepts a file or a link, which would then be removed.
  require(std::filesystem::is_directory(std::filesystem::symlink_status(to)),
          "{}: is not a directory", to.string());
  if (exchange_names(from, to)) {
    sync_directory(to.parent_path());
    return remove_tree(from);
  }
  if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
    fail_system(to, fmt::format("cannot be made from {}", from.string()));
  const std::filesystem::path old = old_name(to);
  remove_tree(old);
  rename_or_fail(to, old);
  try {
    rename_or_fail(from, to);
  } catch (const Error&) {
    rename_or_fail(old, to);
    throw;
  }
  sync_directory(to.parent_path());
  remove_tree(old);
}

void finish_replacement(const std::filesystem::path& target) {
  const std::filesystem::path to = without_trailing_slash(target);
  if (!path_exists(to) && path_exists(old_name(to))) rename_or_fail(old_name(to), to);
}

void require_writable(const std::filesystem::path& path) {
  std::filesystem::path above =
      std::filesystem::absolute(without_trailing_slash(path)).parent_path();
  while (!path_exists(above) && above.has_relative_path()) above = above.parent_path();
  std::error_code ignored;
  require(std::filesystem::is_directory(above, ignored),
          "{}: cannot be written: {} is not a directory", path.string(), above.string());
  if (::access(above.c_str(), W_OK | X_OK) != 0) fail_system(path, "cannot be written");
}

void make_directory(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  require(!error, "{} cannot be made: {}", path.string(), error.message());
  require(std::filesystem::is_directory(path), "{} cannot be made: it is not a directory",
          path.string());
}

void remove_tree(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  require(!error, "{}: cannot be removed: {}", path.string(), error.message());
}

void sync_file(const std::filesystem::path& path) {
  const Descriptor file(open_for_reading(path));
  if (::fsync(file.get()) != 0) fail_system(path, "cannot be written");
}

void sync_directory(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory.empty() ? "." : directory;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.get() < 0) fail_system(path, "cannot be opened");
  // Some file systems cannot synchronise a directory (EINVAL).
  if (::fsync(file.get()) != 0 && errno != EINVAL) fail_system(path, "cannot be synchronised");
}

}  // namespace heed
