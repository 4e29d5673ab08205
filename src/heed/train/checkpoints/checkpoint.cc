#include "heed/train/checkpoints/checkpoint.h"

#include <map>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/io/safetensors.h"

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

std::string name_of(const Parameter& parameter, const Optimizer::Moment& moment) {
  return fmt::format("{}.{}", parameter.name, moment.name);
}

/// The name of the weights that schedule_free trains.
std::string name_of_trained(const Parameter& parameter) { return parameter.name + ".y"; }

/// Writes moments in the order of the model, as several ranks do.
void write_own_moments(const std::filesystem::path& path, const Optimizer& optimizer,
                       const std::vector<Parameter*>& order, const std::vector<Tensor>& trained) {
  std::map<const Parameter*, const std::vector<Optimizer::Moment>*> moments_of;
  for (size_t i = 0; i < optimizer.parts().size(); ++i)
    moments_of[optimizer.parts()[i].parameter] = &optimizer.state().moments[i];
  std::vector<io::NamedTensor> moments;
  for (const Parameter* const parameter : order)
    for (const Optimizer::Moment& moment : *moments_of.at(parameter))
      moments.push_back({name_of(*parameter, moment), moment.tensor});
  for (size_t i = 0; i < trained.size(); ++i)
    moments.push_back({name_of_trained(*order[i]), trained[i]});
  io::write_safetensors(path, moments, {});
}

/// The part of one parameter whose moments each rank has, or none.
using Owners = std::vector<Shard>;

/// A moment of a whole parameter, of which each rank has a part.
struct ShardedMoment {
  const Parameter* parameter;
  size_t index;  // among the moments of the parameter
  Shape shape;
};

class MomentGatherer {
 public:
  MomentGatherer(const Optimizer& optimizer, const StepGradients& gradients,
                 distribute::Group& group)
      : optimizer_(optimizer), group_(group) {
    for (int rank = 0; rank < group.size(); ++rank)
      for (const Shard& part : gradients.parts_of(rank)) {
        Owners& owners = owners_[part.parameter];
        owners.resize(static_cast<size_t>(group.size()));
        owners[static_cast<size_t>(rank)] = part;
      }
    for (size_t i = 0; i < optimizer.parts().size(); ++i) own_[optimizer.parts()[i].parameter] = i;
  }

  /// The moment; on ranks other than 0 undefined.
  Tensor gather(const ShardedMoment& moment) {
    const Owners& owners = owners_.at(moment.parameter);
    std::vector<int64_t> counts;
    for (const Shard& part : owners)
      counts.push_back(part.parameter == nullptr ? 0
                       : part.is_whole()         ? moment.shape.elements()
                                                 : part.elements());
    std::span<const float> own;
    if (const auto found = own_.find(moment.parameter); found != own_.end())
      own = optimizer_.state().moments[found->second][moment.index].tensor.values<float>();
    Tensor whole = group_.is_root() ? Tensor::empty(moment.shape) : Tensor();
    group_.gather(own, counts, [&](int rank, std::span<const float> values) {
      const int64_t begin = owners[static_cast<size_t>(rank)].begin;
      std::copy(values.begin(), values.end(), whole.data<float>() + begin);
    });
    return whole;
  }

 private:
  const Optimizer& optimizer_;
  distribute::Group& group_;
  std::map<const Parameter*, Owners> owners_;
  std::map<const Parameter*, size_t> own_;  // parts of the optimizer
};

/// A tensor of the file. Throws Error when it is missing or not f32 of this shape.
Tensor read_tensor(const io::SafetensorsFile& file, const std::string& name, const Shape& shape) {
  const Tensor stored = file.get(name);
  require(stored.shape() == shape && stored.dtype() == DType::f32,
          "{}: {} is {} {}, expected f32 {}", file.name(), name, heed::name_of(stored.dtype()),
          stored.shape().text(), shape.text());
  return stored;
}

/// Writes the moments of all parameters as whole tensors, whatever the number of ranks that have
/// them: rank 0 writes one after the other as it gets them. With schedule_free, the weights that
/// are trained follow. Collective. Throws Error when the file cannot be written.
void write_moments(const std::filesystem::path& path, const Optimizer& optimizer,
                   const StepGradients& gradients, const EvaluatedWeights& evaluated,
                   distribute::Group& group) {
  const std::vector<Parameter*>& order = gradients.trained();
  const std::vector<Tensor>& trained = evaluated.trained();
  if (group.alone()) return write_own_moments(path, optimizer, order, trained);
  std::vector<ShardedMoment> moments;
  std::vector<io::DescribedTensor> described;
  for (const Parameter* const parameter : order) {
    const auto initial = optimizer.initial_moments(*parameter, parameter->shape);
    for (size_t i = 0; i < initial.size(); ++i) {
      moments.push_back({parameter, i, initial[i].tensor.shape()});
      described.push_back({name_of(*parameter, initial[i]), moments.back().shape});
    }
  }
  for (size_t i = 0; i < trained.size(); ++i)
    described.push_back({name_of_trained(*order[i]), order[i]->shape});
  MomentGatherer gatherer(optimizer, gradients, group);
  if (group.is_root())
    io::write_safetensors(path, described, {}, [&](size_t i) {
      return i < moments.size() ? gatherer.gather(moments[i]) : trained[i - moments.size()];
    });
  else
    for (const ShardedMoment& moment : moments) gatherer.gather(moment);
}

/// Reads this rank's moments and, with schedule_free, the values of all parameters that are
/// trained. Throws Error when one is missing or has another shape.
void read_moments(const std::filesystem::path& path, Optimizer& optimizer,
                  const StepGradients& gradients) {
  const auto file = io::SafetensorsFile::open(path);
  for (size_t i = 0; i < optimizer.parts().size(); ++i) {
    const Shard& part = optimizer.parts()[i];
    for (Optimizer::Moment& moment : optimizer.state().moments[i]) {
      const Shape& shape = part.is_whole() ? moment.tensor.shape() : part.parameter->shape;
      moment.tensor = part.of(read_tensor(*file, name_of(*part.parameter, moment), shape)).clone();
    }
  }
  if (!optimizer.evaluates_average()) return;
  for (Parameter* const parameter : gradients.trained())
    parameter->value = read_tensor(*file, name_of_trained(*parameter), parameter->shape).clone();
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
