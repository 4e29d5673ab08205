#include <algorithm>

#include "heed/base/split_files.h"
#include "heed/hub.h"
#include "heed/hub/cache_layout.h"
#include "heed/hub/settings.h"
#include "heed/hub/snapshot.h"

namespace heed {
namespace hub {
namespace {

namespace fs = std::filesystem;

/// The GGUF files of a snapshot whose parts are all there, in its folders too, by their paths.
std::vector<std::string> gguf_files(const RepositoryCache& cache, const std::string& commit) {
  std::vector<std::string> files;
  std::error_code ignored;
  const fs::path snapshot = cache.snapshot(commit);
  for (const auto& entry : fs::recursive_directory_iterator(snapshot, ignored)) {
    const std::string file = entry.path().lexically_relative(snapshot).string();
    if (!file.ends_with(".gguf")) continue;
    const std::vector<std::string> parts = split_files(file);
    if (parts.front() == file &&
        std::ranges::all_of(parts, [&](const std::string& one) { return cache.has(commit, one); }))
      files.push_back(file);
  }
  std::ranges::sort(files);
  return files;
}

/// The revisions that the cache knows: "main" or "refs/pr/1".
std::vector<std::string> revisions(const RepositoryCache& cache) {
  std::vector<std::string> names;
  std::error_code ignored;
  const fs::path refs = cache.folder() / "refs";
  for (const auto& entry : fs::recursive_directory_iterator(refs, ignored))
    if (entry.is_regular_file(ignored))
      names.push_back(entry.path().lexically_relative(refs).string());
  std::ranges::sort(names);
  return names;
}

}  // namespace
}  // namespace hub

std::vector<std::string> cached_models(const HubOptions& options) {
  std::vector<std::string> names;
  const std::filesystem::path folder = hub::settings_of(options).cache;
  for (const std::string& repository : hub::RepositoryCache::all_in(folder)) {
    const hub::RepositoryCache cache(folder, repository);
    for (const std::string& revision : hub::revisions(cache)) {
      const auto commit = cache.commit_of(revision);
      if (!commit) continue;
      const std::string name = revision == "main" ? repository : repository + "@" + revision;
      if (hub::has_model(cache, *commit)) names.push_back(name);
      for (const std::string& file : hub::gguf_files(cache, *commit))
        names.push_back(name + ":" + file);
    }
  }
  return names;
}

}  // namespace heed
