#include "heed/nn/norm.h"

#include <utility>

#include "heed/ops/norm.h"

namespace heed::nn {

Norm::Norm(Parameters& parameters, const std::string& name, Settings settings)
    : settings_(settings),
      weight_(parameters.create(name + ".weight", {settings.d_model},
                                settings.unit_offset ? Initializer::zeros() : Initializer::ones(),
                                WeightRole::norm)),
      bias_(settings.kind == NormKind::layer && settings.bias
                ? parameters.create(name + ".bias", {settings.d_model}, Initializer::zeros(),
                                    WeightRole::norm)
                : parameters.absent()) {}

Tensor Norm::forward(Context& context, Tensor x) const {
  if (settings_.kind == NormKind::rms)
    return ops::rms_norm(context, std::move(x), weight_, settings_.epsilon, settings_.unit_offset);
  return ops::layer_norm(context, std::move(x), weight_, bias_, settings_.epsilon);
}

}  // namespace heed::nn
