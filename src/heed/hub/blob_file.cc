#include "heed/hub/blob_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <string>

#include "heed/base/error.h"
#include "heed/base/file.h"

namespace heed::hub {

BlobFile::BlobFile(std::filesystem::path blob, const ListedFile& expected)
    : blob_(std::move(blob)),
      path_(blob_.string() + ".incomplete"),
      expected_(expected),
      file_(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)),
      digest_(expected.checksum, expected.size) {
  if (file_.get() < 0) fail_system(path_, "cannot be written");
}

void BlobFile::read_existing(const std::function<void()>& poll) {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) fail_system(path_, "cannot be read");
  if (static_cast<uint64_t>(status.st_size) > expected_.size) return clear();
  std::string part(size_t{4} << 20, '\0');
  for (;;) {
    const ssize_t count = ::read(file_.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_system(path_, "cannot be read");
    if (count == 0) break;
    digest_.update({part.data(), static_cast<size_t>(count)});
    size_ += static_cast<uint64_t>(count);
    poll();
  }
  continued_ = size_ > 0;
}

void BlobFile::clear() {
  if (::ftruncate(file_.get(), 0) != 0 || ::lseek(file_.get(), 0, SEEK_SET) != 0)
    fail_system(path_, "cannot be written");
  digest_ = Digest(expected_.checksum, expected_.size);
  size_ = 0;
  continued_ = false;
}

void BlobFile::append(std::string_view bytes) {
  require(bytes.size() <= missing(), "{}: the server sends more than {} bytes", path_.string(),
          expected_.size);
  digest_.update(bytes);
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_system(path_, "cannot be written");
    size_ += static_cast<uint64_t>(count);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

std::string BlobFile::finish() {
  if (missing() > 0) return fmt::format("has {} bytes, expected {}", size_, expected_.size);
  const std::string found = digest_.finish();
  if (found != expected_.checksum)
    return fmt::format("has the {} {}, expected {}", found.size() == 40 ? "Git SHA-1" : "SHA-256",
                       found, expected_.checksum);
  if (::fsync(file_.get()) != 0) fail_system(path_, "cannot be written");
  if (::rename(path_.c_str(), blob_.c_str()) != 0) fail_system(blob_, "cannot be made");
  sync_directory(blob_.parent_path());
  return {};
}

}  // namespace heed::hub
