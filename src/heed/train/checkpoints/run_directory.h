#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "heed/base/directory_lock.h"

namespace heed::train {

/// The directory of a run. It is locked against other processes while this or a copy of it exists.
///   config.json, model.safetensors, source.spm, ...   the best model so far, ready to use; or
///   adapter_config.json, adapter_model.safetensors    the best adapter
///   config.toml       the configuration of the run
///   last/             the last checkpoint: a model directory with optimizer.safetensors and
///                     training.json beside the weights
///   checkpoints/      weights kept for averaging
///   metrics.jsonl     one line per step and per validation
///   filtered.json     which pairs of the training text were left out, and why
///   report.html
///   heed.lock         while a run is active
class RunDirectory {
 public:
  /// Opens a directory for a new run; creates it if it is missing. Throws Error when it holds any
  /// file (except those of a run that ended before its first checkpoint), when another process
  /// trains there, and when it cannot be written.
  static RunDirectory begin(const std::filesystem::path& root);
  /// Opens the directory of a run to resume, and completes or removes what a crash during saving
  /// left. Throws Error when there is no checkpoint, and when another process trains there.
  static RunDirectory resume(const std::filesystem::path& root);

  /// The directory of a run that rank 0 has opened, for another rank, which only reads there.
  static RunDirectory join(const std::filesystem::path& root, bool resumed);

  /// Whether it was opened by resume().
  bool resumed() const { return resumed_; }

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path config() const { return root_ / "config.toml"; }
  std::filesystem::path last() const { return root_ / "last"; }
  std::filesystem::path state() const { return last() / "training.json"; }
  std::filesystem::path metrics() const { return root_ / "metrics.jsonl"; }
  std::filesystem::path filtered() const { return root_ / "filtered.json"; }
  std::filesystem::path report() const { return root_ / "report.html"; }
  std::filesystem::path weights_of_step(int64_t step) const;

  bool has_checkpoint() const;
  /// Removes all weights in checkpoints/ except those of `steps`.
  void keep_weights_of(const std::vector<int64_t>& steps) const;

 private:
  RunDirectory(std::filesystem::path root, bool resumed, std::shared_ptr<const DirectoryLock> lock);
  void require_unused() const;
  void prepare() const;

  std::filesystem::path root_;
  std::shared_ptr<const DirectoryLock> lock_;
  bool resumed_;
};

}  // namespace heed::train
