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

std::string name_of(const Parameter& parameter, const Optimizer::Moment& moment) {
  return fmt::format("{}.{}", parameter.name, moment.name);
}

std::vector<io::NamedTensor> moments_of(const Optimizer& optimizer) {
  std::vector<io::NamedTensor> moments;
  for (size_t i = 0; i < optimizer.trained().size(); ++i)
    for (const Optimizer::Moment& moment : optimizer.state().moments[i])
      moments.push_back({name_of(*optimizer.trained()[i], moment), moment.tensor});
  return moments;
}

std::string state_text(const Checkpoint& checkpoint) {
  nlohmann::json state = checkpoint.state.to_json();
  state["optimizer_steps"] = checkpoint.optimizer.state().steps;
  if (const double sum = checkpoint.optimizer.state().weight_sum; sum > 0)
    state["optimizer_weight_sum"] = sum;
  return dump_json(state, {.indent = 2}) + "\n";
}

}  // namespace

void save_checkpoint(const RunDirectory& run, const Checkpoint& checkpoint,
                     const std::vector<checkpoint::NamedFile>& tokenizer_files) {
  const EvaluatedWeights evaluated(checkpoint.optimizer);
  const std::filesystem::path fresh = run.root() / "last.tmp";
  remove_tree(fresh);
  try {
    checkpoint.weights.save(fresh, tokenizer_files);
    io::write_safetensors(fresh / kOptimizerFile, moments_of(checkpoint.optimizer), {});
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
  Optimizer& optimizer = checkpoint.optimizer;
  optimizer.state().steps = get<int64_t>(state, "optimizer_steps", file);
  if (state.contains("optimizer_weight_sum"))
    optimizer.state().weight_sum = get<double>(state, "optimizer_weight_sum", file);
  const EvaluatedWeights evaluated(optimizer);
  checkpoint.weights.set(*checkpoint.weights.open(run.last()));
  const auto moments = io::SafetensorsFile::open(run.last() / kOptimizerFile);
  for (size_t i = 0; i < optimizer.trained().size(); ++i)
    for (Optimizer::Moment& moment : optimizer.state().moments[i])
      restore(moment.tensor, *moments, name_of(*optimizer.trained()[i], moment));
}

}  // namespace heed::train
