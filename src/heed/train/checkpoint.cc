#include "heed/train/checkpoint.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/kernels/elementwise.h"

namespace heed::train {
namespace {

constexpr const char* kOptimizerFile = "optimizer.safetensors";
constexpr const char* kStateFile = "training.json";

void restore(Tensor& value, const io::TensorSource& file, const std::string& name) {
  const Tensor stored = file.get(name);
  require(stored.shape() == value.shape() && stored.dtype() == DType::f32,
          "{}: {} is {} {}, expected f32 {}", file.name(), name, name_of(stored.dtype()),
          stored.shape().text(), value.shape().text());
  value = stored.clone();
}

}  // namespace

std::filesystem::path RunDirectory::weights_of_step(int64_t step) const {
  return root_ / "checkpoints" / fmt::format("step-{:07}.safetensors", step);
}

bool RunDirectory::has_checkpoint() const { return std::filesystem::exists(last() / kStateFile); }

void save_checkpoint(const RunDirectory& run, const Checkpoint& checkpoint,
                     const std::vector<checkpoint::NamedFile>& tokenizer_files) {
  const std::filesystem::path fresh = run.root() / "last.tmp";
  std::filesystem::remove_all(fresh);
  std::vector<io::NamedTensor> moments;
  size_t index = 0;
  for (const Parameter& parameter : checkpoint.model.parameters().all()) {
    moments.push_back({parameter.name + ".m", checkpoint.optimizer.state().moments1[index]});
    moments.push_back({parameter.name + ".v", checkpoint.optimizer.state().moments2[index]});
    ++index;
  }
  nlohmann::json state = checkpoint.state.to_json();
  state["optimizer_steps"] = checkpoint.optimizer.state().steps;
  checkpoint::save_model(fresh, checkpoint.model, tokenizer_files);
  io::write_safetensors(fresh / kOptimizerFile, moments, {});
  write_file_atomically(fresh / kStateFile, state.dump(2) + "\n");
  replace_directory(fresh, run.last());
}

void load_checkpoint(const RunDirectory& run, Checkpoint checkpoint) {
  const std::string file = (run.last() / kStateFile).string();
  const nlohmann::json state = parse_json(read_file(file), file);
  checkpoint.state = TrainingState::from_json(state, file);
  checkpoint.optimizer.state().steps = get<int64_t>(state, "optimizer_steps", file);
  checkpoint::load_weights(checkpoint.model, model::family_for(checkpoint.model.config()),
                           *io::open_model_tensors(run.last()));
  const auto moments = io::SafetensorsFile::open(run.last() / kOptimizerFile);
  size_t index = 0;
  for (const Parameter& parameter : checkpoint.model.parameters().all()) {
    restore(checkpoint.optimizer.state().moments1[index], *moments, parameter.name + ".m");
    restore(checkpoint.optimizer.state().moments2[index], *moments, parameter.name + ".v");
    ++index;
  }
}

std::vector<io::NamedTensor> average_weights(const std::vector<std::filesystem::path>& files) {
  require(!files.empty(), "there is nothing to average");
  std::vector<io::NamedTensor> mean;
  for (const std::filesystem::path& path : files) {
    const auto file = io::SafetensorsFile::open(path);
    const std::vector<std::string> names = file->names();
    if (mean.empty())
      for (const std::string& name : names)
        mean.push_back({name, Tensor::zeros(file->get(name).shape())});
    require(names.size() == mean.size(), "{} has {} tensors, {} has {}", path.string(),
            names.size(), files.front().string(), mean.size());
    for (io::NamedTensor& sum : mean) {
      const Tensor weight = file->get(sum.name);
      require(weight.shape() == sum.tensor.shape(), "{}: {} is {}, in {} it is {}", path.string(),
              sum.name, weight.shape().text(), files.front().string(), sum.tensor.shape().text());
      kernels::add_to(weight, sum.tensor);
    }
  }
  for (io::NamedTensor& sum : mean)
    kernels::scale(1.0f / static_cast<float>(files.size()), sum.tensor);
  return mean;
}

}  // namespace heed::train
