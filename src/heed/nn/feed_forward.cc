#include "heed/nn/feed_forward.h"

#include <utility>

#include "heed/ops/activation.h"
#include "heed/ops/dropout.h"

namespace heed::nn {

FeedForward::FeedForward(Parameters& parameters, const std::string& prefix, Settings settings)
    : settings_(settings),
      parts_(parameters.parts()),
      in_(parameters, prefix + (settings.gated ? "up_proj" : "fc1"),
          {settings.d_model, settings.d_ff, settings.bias && settings.up_bias}, WeightRole::ff_up),
      out_(parameters, prefix + (settings.gated ? "down_proj" : "fc2"),
           {settings.d_ff, settings.d_model, settings.bias}, WeightRole::ff_down) {
  if (settings.gated)
    gate_.emplace(parameters, prefix + "gate_proj",
                  Linear::Sizes{settings.d_model, settings.d_ff, settings.bias && settings.up_bias},
                  WeightRole::ff_up);
}

Tensor FeedForward::forward(Context& context, const Tensor& x) const {
  Tensor hidden;  // [N, F]
  if (gate_) {
    auto [up, gate] = ops::linears(context, x, {in_.map(), gate_->map()});
    hidden = ops::gated(context, settings_.activation, std::move(gate), up);
  } else {
    hidden = ops::activation(context, settings_.activation, in_.forward(context, x));
  }
  hidden = ops::dropout(context, hidden, settings_.dropout);
  return all_reduce(parts_, out_.forward(context, hidden));  // [N, D]
}

}  // namespace heed::nn
