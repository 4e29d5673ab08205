#pragma once

#include <vector>

#include "heed/nn/parameters.h"

namespace heed::train {

/// Elements [begin, end) of a parameter that is trained: all of them, or those of one rank.
struct Shard {
  Parameter* parameter = nullptr;
  int64_t begin = 0, end = 0;

  bool is_whole() const { return begin == 0 && end == parameter->shape.elements(); }
  int64_t elements() const { return end - begin; }
  /// The shape of the part: the parameter's if it is whole.
  Shape shape() const { return is_whole() ? parameter->shape : Shape{elements()}; }
  /// The part of a tensor of the parameter's shape; shares the elements.
  Tensor of(const Tensor& whole) const;
};

/// The parameters that are not frozen, in the model's order.
std::vector<Parameter*> trained_parameters(nn::Parameters& parameters);

}  // namespace heed::train
