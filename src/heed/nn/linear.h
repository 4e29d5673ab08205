#pragma once

#include <string>

#include "heed/nn/parameters.h"
#include "heed/ops/context.h"
#include "heed/ops/linears.h"

namespace heed::nn {

/// The sum of y, f32, over the parts of a model; y itself if there is only one (null).
inline Tensor all_reduce(const TensorParallel* parts, Tensor y) {
  if (parts) parts->all_reduce({y.data<float>(), static_cast<size_t>(y.elements())});
  return y;
}

/// y = x W^T + b with weight [out, in], as checkpoints store it.
class Linear {
 public:
  struct Sizes {
    int64_t in, out;
    bool bias = true;
    float gain = 1.0f;  // of the initial weights (Initializer::xavier)
  };
  /// Parameters are `name`.weight and `name`.bias, both of this role.
  Linear(Parameters& parameters, const std::string& name, Sizes sizes, WeightRole role);

  /// x [N, in] -> [N, out].
  Tensor forward(Context& context, const Tensor& x) const;

  /// For linears(), which runs several at once.
  ops::LinearMap map() const { return {weight_, bias_}; }
  /// For products with parts of it.
  const Parameter& weight() const { return weight_; }

 private:
  const Parameter& weight_;
  const Parameter& bias_;
};

}  // namespace heed::nn
