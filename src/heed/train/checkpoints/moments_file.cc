#include "heed/train/checkpoints/moments_file.h"

#include <map>

#include "heed/base/error.h"
#include "heed/io/safetensors.h"

namespace heed::train {
namespace {

std::string name_of(const Parameter& parameter, const Optimizer::Moment& moment) {
  return fmt::format("{}.{}", parameter.name, moment.name);
}

/// Of what schedule_free trains, in checkpoints.
std::string name_of_trained(const Parameter& parameter) { return parameter.name + ".y"; }

/// In the order of the model, as they are written by several ranks.
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

/// Where the moments of one parameter are: the part of each rank, or none.
using Owners = std::vector<Shard>;

/// A moment of a whole parameter, which is collected from the ranks.
struct SharedMoment {
  const Parameter* parameter;
  size_t index;  // among the moments of the parameter
  Shape shape;
};

class MomentCollector {
 public:
  MomentCollector(const Optimizer& optimizer, const StepGradients& gradients,
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
  Tensor collect(const SharedMoment& moment) {
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

}  // namespace

void write_moments(const std::filesystem::path& path, const Optimizer& optimizer,
                   const StepGradients& gradients, const EvaluatedWeights& evaluated,
                   distribute::Group& group) {
  const std::vector<Parameter*>& order = gradients.trained();
  const std::vector<Tensor>& trained = evaluated.trained();
  if (group.alone()) return write_own_moments(path, optimizer, order, trained);
  std::vector<SharedMoment> moments;
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
  MomentCollector collector(optimizer, gradients, group);
  if (group.is_root())
    io::write_safetensors(path, described, {}, [&](size_t i) {
      return i < moments.size() ? collector.collect(moments[i]) : trained[i - moments.size()];
    });
  else
    for (const SharedMoment& moment : moments) collector.collect(moment);
}

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

}  // namespace heed::train
