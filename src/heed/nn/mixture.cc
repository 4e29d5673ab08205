#include "heed/nn/mixture.h"

#include "heed/ops/elementwise.h"
#include "heed/ops/softmax.h"

namespace heed::nn {

Mixture::Mixture(Parameters& parameters, const std::string& prefix, FeedForward::Settings expert,
                 const MixtureSizes& sizes)
    : sizes_(sizes),
      router_(parameters, prefix + "router",
              {.in = expert.d_model, .out = sizes.experts, .bias = false}, WeightRole::router) {
  expert.d_ff = sizes.d_expert;
  WeightPlace place = parameters.place();
  place.expert = true;
  for (int64_t e = 0; e < sizes.experts; ++e) {
    const Parameters::Scope scope(parameters, place);
    experts_.emplace_back(parameters, prefix + "experts." + std::to_string(e) + ".", expert);
  }
  if (sizes.shared == 0) return;
  expert.d_ff = sizes.shared * sizes.d_expert;
  shared_.emplace(parameters, prefix + "shared_experts.", expert);
}

Tensor Mixture::forward(Context& context, const Tensor& x) const {
  const Tensor scores = ops::to_f32(context, router_.forward(context, x));  // [N, E]
  const ops::Routing routing = ops::route(context, ops::softmax(context, scores),
                                          {.chosen = sizes_.chosen,
                                           .normalized = sizes_.normalized,
                                           .scale = sizes_.scale,
                                           .groups = sizes_.groups,
                                           .chosen_groups = sizes_.chosen_groups});
  std::vector<Tensor> outputs(experts_.size());
  for (size_t e = 0; e < experts_.size(); ++e) {
    const auto rows = routing.rows(static_cast<int64_t>(e));
    if (!rows.empty())
      outputs[e] = experts_[e].forward(context, ops::gather_rows(context, x, rows));
  }
  const Tensor mixed = ops::combine(context, routing, outputs);  // [N, D]
  if (!shared_) return mixed;
  return ops::add(context, shared_->forward(context, x), mixed);
}

}  // namespace heed::nn
