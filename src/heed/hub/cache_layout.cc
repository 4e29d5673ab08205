#include "heed/hub/cache_layout.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "heed/base/descriptor.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/hub/listing.h"
#include "heed/hub/model_name.h"

namespace heed::hub {
namespace {

namespace fs = std::filesystem;

constexpr size_t kCommitDigits = 40;
constexpr std::string_view kFolderBegin = "models--";

std::string folder_name(const std::string& repository) {
  const size_t slash = repository.find('/');
  if (slash == repository.npos) return fmt::format("{}{}", kFolderBegin, repository);
  return fmt::format("{}{}--{}", kFolderBegin, repository.substr(0, slash),
                     repository.substr(slash + 1));
}

/// The repository of a folder's name; empty: it is no repository's.
std::string repository_of(const std::string& folder) {
  if (!folder.starts_with(kFolderBegin)) return {};
  std::string name = folder.substr(kFolderBegin.size());
  const size_t separator = name.find("--");
  if (separator != name.npos) name.replace(separator, 2, "/");
  return is_repository(name) ? name : "";
}

/// Moves `from` to `to` on a file system that has no symbolic links.
void move_instead_of_link(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail_system(to, "cannot be made");
}

}  // namespace

RepositoryCache::RepositoryCache(const fs::path& cache, const std::string& repository)
    : folder_(cache / folder_name(repository)),
      locks_(cache / ".locks" / folder_name(repository)) {}

std::vector<std::string> RepositoryCache::all_in(const fs::path& cache) {
  std::vector<std::string> repositories;
  std::error_code ignored;  // A cache that does not exist holds nothing.
  for (const fs::directory_entry& entry : fs::directory_iterator(cache, ignored))
    if (std::string name = repository_of(entry.path().filename().string()); !name.empty())
      repositories.push_back(std::move(name));
  std::ranges::sort(repositories);
  return repositories;
}

fs::path RepositoryCache::snapshot(const std::string& commit) const {
  return folder_ / "snapshots" / commit;
}

fs::path RepositoryCache::blob(const std::string& checksum) const {
  return folder_ / "blobs" / checksum;
}

fs::path RepositoryCache::lock(const std::string& checksum) const {
  return locks_ / (checksum + ".lock");
}

std::optional<std::string> RepositoryCache::commit_of(const std::string& revision) const {
  if (is_hexadecimal(revision, kCommitDigits)) return revision;
  const fs::path ref = folder_ / "refs" / revision;
  if (!path_exists(ref) || !path_is_file(ref)) return std::nullopt;
  const std::string commit = read_file(ref).substr(0, kCommitDigits);
  return is_hexadecimal(commit, kCommitDigits) ? std::optional(commit) : std::nullopt;
}

bool RepositoryCache::has(const std::string& commit, const std::string& file) const {
  return path_exists(snapshot(commit) / file);
}

bool RepositoryCache::known_absent(const std::string& commit, const std::string& file) const {
  return path_exists(folder_ / ".no_exist" / commit / file);
}

void RepositoryCache::set_commit(const std::string& revision, const std::string& commit) const {
  if (commit_of(revision) == commit) return;
  const fs::path ref = folder_ / "refs" / revision;
  make_directory(ref.parent_path());
  write_file_atomically(ref, commit);
}

void RepositoryCache::mark_absent(const std::string& commit, const std::string& file) const {
  if (known_absent(commit, file)) return;
  const fs::path marker = folder_ / ".no_exist" / commit / file;
  make_directory(marker.parent_path());
  const Descriptor created(::open(marker.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (created.get() < 0) fail_system(marker, "cannot be made");
}

void RepositoryCache::link(const std::string& commit, const std::string& file,
                           const std::string& checksum) const {
  const fs::path target = blob(checksum), path = snapshot(commit) / file;
  make_directory(path.parent_path());
  const fs::path relative = target.lexically_relative(path.parent_path());
  std::error_code ignored;
  if (fs::read_symlink(path, ignored) == relative) return;
  // A link is made elsewhere and renamed, which replaces an older one at once. Two processes that
  // do so make the same link.
  const fs::path fresh = fmt::format("{}.{}.link", target.string(), ::getpid());
  ::unlink(fresh.c_str());
  if (::symlink(relative.c_str(), fresh.c_str()) != 0) {
    if (errno == EPERM || errno == ENOTSUP || errno == ENOSYS)
      return move_instead_of_link(target, path);
    fail_system(path, "cannot be made");
  }
  if (::rename(fresh.c_str(), path.c_str()) != 0) fail_system(path, "cannot be made");
}

}  // namespace heed::hub
