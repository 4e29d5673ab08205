#include "heed/nn/linear.h"

#include "heed/ops/linear.h"

namespace heed::nn {

Linear::Linear(Parameters& parameters, const std::string& name, Sizes sizes, WeightRole role)
    : weight_(parameters.create(name + ".weight", {sizes.out, sizes.in},
                                Initializer::xavier(sizes.gain), role)),
      bias_(sizes.bias ? parameters.create(name + ".bias", {sizes.out}, Initializer::zeros(), role)
                       : parameters.absent()) {}

Tensor Linear::forward(Context& context, const Tensor& x) const {
  return ops::linear(context, x, weight_, bias_);
}

}  // namespace heed::nn
