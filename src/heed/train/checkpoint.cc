#include "heed/train/checkpoint.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"

namespace heed::train {
namespace {

constexpr const char* kOptimizerFile = "optimizer.safetensors";

void restore(Tensor& value, const io::TensorSource& file, const std::string& name) {
  const Tensor stored = file.get(name);
  require(stored.shape() == value.shape() && stored.dtype() == DType::f32,
          "{}: {} is {} {}, expected f32 {}", file.name(), name, name_of(stored.dtype()),
          stored.shape().text(), value.shape().text());
  value = stored.clone();
}

std::vector<io::NamedTensor> moments_of(const Checkpoint& checkpoint) {
  std::vector<io::NamedTensor> moments;
  size_t index = 0;
  for (const Parameter* const parameter : checkpoint.optimizer.trained()) {
    moments.push_back({parameter->name + ".m", checkpoint.optimizer.state().moments1[index]});
    moments.push_back({parameter->name + ".v", checkpoint.optimizer.state().moments2[index]});
    ++index;
  }
  return moments;
}

std::string state_text(const Checkpoint& checkpoint) {
  nlohmann::json state = checkpoint.state.to_json();
  state["optimizer_steps"] = checkpoint.optimizer.state().steps;
  return dump_json(state, {.indent = 2}) + "\n";
}

}  // namespace

void save_checkpoint(const RunDirectory& run, const Checkpoint& checkpoint,
                     const std::vector<checkpoint::NamedFile>& tokenizer_files) {
  const std::filesystem::path fresh = run.root() / "last.tmp";
  remove_tree(fresh);
  try {
    checkpoint.weights.save(fresh, tokenizer_files);
    io::write_safetensors(fresh / kOptimizerFile, moments_of(checkpoint), {});
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

void load_checkpoint(const RunDirectory& run, Checkpoint checkpoint) {
  const std::string file = run.state().string();
  const nlohmann::json state = parse_json(read_file(file), file);
  checkpoint.state = TrainingState::from_json(state, file);
  checkpoint.optimizer.state().steps = get<int64_t>(state, "optimizer_steps", file);
  checkpoint.weights.set(*checkpoint.weights.open(run.last()));
  const auto moments = io::SafetensorsFile::open(run.last() / kOptimizerFile);
  size_t index = 0;
  for (const Parameter* const parameter : checkpoint.optimizer.trained()) {
    restore(checkpoint.optimizer.state().moments1[index], *moments, parameter->name + ".m");
    restore(checkpoint.optimizer.state().moments2[index], *moments, parameter->name + ".v");
    ++index;
  }
}

}  // namespace heed::train
