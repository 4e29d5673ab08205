#include "heed/train/distributed/shard.h"

namespace heed::train {

Tensor Shard::of(const Tensor& whole) const {
  if (is_whole() || !whole.defined()) return whole;
  return whole.reshaped({whole.elements(), 1}).row_slice(begin, end).reshaped(shape());
}

std::vector<Parameter*> trained_parameters(nn::Parameters& parameters) {
  std::vector<Parameter*> trained;
  for (Parameter& parameter : parameters.all())
    if (parameter.trainable) trained.push_back(&parameter);
  return trained;
}

}  // namespace heed::train
