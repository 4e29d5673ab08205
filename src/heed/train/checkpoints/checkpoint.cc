#include "heed/train/checkpoints/checkpoint.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/train/checkpoints/moments_file.h"

namespace heed::train {
namespace {

constexpr const char* kOptimizerFile = "optimizer.safetensors";

std::string state_text(const Checkpoint& checkpoint) {
  nlohmann::json state = checkpoint.state.to_json();
  state["optimizer_steps"] = checkpoint.optimizer.state().steps;
  if (const double sum = checkpoint.optimizer.state().weight_sum; sum > 0)
    state["optimizer_weight_sum"] = sum;
  return dump_json(state, {.indent = 2}) + "\n";
}

}  // namespace

void save_checkpoint(const RunDirectory& run, const Checkpoint& checkpoint,
                     const EvaluatedWeights& evaluated,
                     const std::vector<checkpoint::NamedFile>& tokenizer_files,
                     distribute::Group& group) {
  const auto write_moments_to = [&](const std::filesystem::path& path) {
    write_moments(path, checkpoint.optimizer, checkpoint.gradients, evaluated, group);
  };
  if (!group.is_root()) return write_moments_to({});
  const std::filesystem::path fresh = run.root() / "last.tmp";
  remove_tree(fresh);
  try {
    checkpoint.weights.save(fresh, tokenizer_files);
    write_moments_to(fresh / kOptimizerFile);
    write_file_atomically(fresh / run.state().filename(), state_text(checkpoint));
  } catch (...) {
    std::error_code ignored;  // the error to report is that of writing
    std::filesystem::remove_all(fresh, ignored);
    throw;
  }
  replace_directory(fresh, run.last());
}

void save_state(const RunDirectory& run, const Checkpoint& checkpoint) {
  write_file_atomically(run.state(), state_text(checkpoint));
}

TrainingState read_state(const RunDirectory& run) {
  const std::string file = run.state().string();
  return TrainingState::from_json(parse_json(read_file(file), file), file);
}

void load_checkpoint(const RunDirectory& run, Checkpoint checkpoint) {
  const std::string file = run.state().string();
  const nlohmann::json state = parse_json(read_file(file), file);
  checkpoint.state = TrainingState::from_json(state, file);
  Optimizer& optimizer = checkpoint.optimizer;
  optimizer.state().steps = get<int64_t>(state, "optimizer_steps", file);
  if (state.contains("optimizer_weight_sum"))
    optimizer.state().weight_sum = get<double>(state, "optimizer_weight_sum", file);
  checkpoint.weights.set(*checkpoint.weights.open(run.last()));
  read_moments(run.last() / kOptimizerFile, optimizer, checkpoint.gradients);
}

}  // namespace heed::train
