#include "heed/train/checkpoints/run_directory.h"

#include <algorithm>
#include <set>
#include <string>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"

namespace heed::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWeights = "checkpoints";

/// The files of a directory, in alphabetical order.
std::vector<fs::path> entries_of(const fs::path& directory) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (auto entry = fs::directory_iterator(directory, error);
       !error && entry != fs::directory_iterator(); entry.increment(error))
    entries.push_back(entry->path());
  require(!error, "{}: cannot be read: {}", directory.string(), error.message());
  std::sort(entries.begin(), entries.end());
  return entries;
}

/// Whether a run that ended before its first step may have left this.
bool may_precede_first_step(const fs::path& path) {
  const fs::path name = path.filename();
  return name == DirectoryLock::kFile ||
         (name == kWeights && fs::is_directory(path) && fs::is_empty(path));
}

/// Whether a run that ended before its first checkpoint may have left this.
bool may_precede_first_checkpoint(const fs::path& path) {
  const std::string name = path.filename().string();
  return name == "config.toml" || name == "filtered.json" || name == "metrics.jsonl" ||
         name == "last.tmp" || is_left_temporary(path);
}

bool is_weights_of_step(const fs::path& path) {
  const std::string name = path.stem().string();
  constexpr std::string_view kStep = "step-";
  return path.extension() == ".safetensors" && name.starts_with(kStep) &&
         name.find_first_not_of("0123456789", kStep.size()) == std::string::npos;
}

}  // namespace

RunDirectory::RunDirectory(fs::path root, bool resumed, std::shared_ptr<const DirectoryLock> lock)
    : root_(std::move(root)), lock_(std::move(lock)), resumed_(resumed) {
  if (lock_ && (resumed_ || path_exists(metrics()))) finish_replacement(last());
}

RunDirectory RunDirectory::join(const fs::path& root, bool resumed) {
  return {root, resumed, nullptr};
}

RunDirectory RunDirectory::begin(const fs::path& root) {
  make_directory(root);
  RunDirectory run(root, false, std::make_shared<DirectoryLock>(root));
  run.require_unused();
  run.prepare();
  return run;
}

RunDirectory RunDirectory::resume(const fs::path& root) {
  require(path_exists(root), "{} has no checkpoint to resume from", root.string());
  RunDirectory run(root, true, std::make_shared<DirectoryLock>(root));
  require(run.has_checkpoint(), "{} has no checkpoint to resume from", root.string());
  run.prepare();
  return run;
}

void RunDirectory::require_unused() const {
  require(!has_checkpoint(),
          "{} already holds a run: add --resume to continue it, or choose another --out",
          root_.string());
  const bool unsaved_run = path_exists(metrics());
  for (const fs::path& entry : entries_of(root_)) {
    const bool allowed =
        may_precede_first_step(entry) || (unsaved_run && may_precede_first_checkpoint(entry));
    require(allowed,
            "{} is not empty (it holds \"{}\"), expected a new directory for the run: choose "
            "another --out, or remove it first",
            root_.string(), one_line(entry.filename().string()));
  }
}

void RunDirectory::prepare() const {
  make_directory(root_ / kWeights);
  for (const fs::path& directory : {root_, root_ / kWeights, last()}) {
    if (!path_exists(directory)) continue;
    for (const fs::path& entry : entries_of(directory))
      if (is_left_temporary(entry)) remove_tree(entry);
  }
}

fs::path RunDirectory::weights_of_step(int64_t step) const {
  return root_ / kWeights / fmt::format("step-{:07}.safetensors", step);
}

bool RunDirectory::has_checkpoint() const { return path_exists(state()); }

void RunDirectory::keep_weights_of(const std::vector<int64_t>& steps) const {
  std::set<fs::path> kept;
  for (const int64_t step : steps) kept.insert(weights_of_step(step));
  for (const fs::path& entry : entries_of(root_ / kWeights))
    if (is_weights_of_step(entry) && !kept.contains(entry)) remove_tree(entry);
}

}  // namespace heed::train
