#pragma once

#include <filesystem>
#include <string>

#include "heed/checkpoint/model_directory.h"
#include "heed/model/transformer.h"
#include "heed/train/optimizer.h"
#include "heed/train/training_state.h"

namespace heed::train {

/// Where a run keeps what it makes, below its output directory:
///   config.json, model.safetensors, source.spm, ...   the best model so far, ready to use
///   config.toml       the configuration of the run
///   last/             the last checkpoint: a model directory with optimizer.safetensors and
///                     training.json beside the weights
///   checkpoints/      weights kept for averaging
///   metrics.jsonl     a line per step and per validation
///   report.html
class RunDirectory {
 public:
  explicit RunDirectory(std::filesystem::path root) : root_(std::move(root)) {}

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path config() const { return root_ / "config.toml"; }
  std::filesystem::path last() const { return root_ / "last"; }
  std::filesystem::path metrics() const { return root_ / "metrics.jsonl"; }
  std::filesystem::path weights_of_step(int64_t step) const;
  bool has_checkpoint() const;

 private:
  std::filesystem::path root_;
};

struct Checkpoint {
  model::Transformer& model;
  Optimizer& optimizer;
  TrainingState& state;
};

/// Writes `last/` beside the old one and exchanges the two in one step: a crash at any moment
/// leaves one of them whole. Throws Error (disk full, no permission); the old checkpoint is then
/// untouched.
void save_checkpoint(const RunDirectory& run, const Checkpoint& checkpoint,
                     const std::vector<checkpoint::NamedFile>& tokenizer_files);

/// Restores what save_checkpoint() wrote. Throws Error when a file is missing, damaged, or of a
/// model of another shape.
void load_checkpoint(const RunDirectory& run, Checkpoint checkpoint);

/// The mean of the weights of several files of one model (Vaswani et al. 2017, 6.1). Throws Error
/// when their tensors differ in name or shape.
std::vector<io::NamedTensor> average_weights(const std::vector<std::filesystem::path>& files);

}  // namespace heed::train
