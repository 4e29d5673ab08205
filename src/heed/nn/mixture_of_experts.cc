#include "heed/nn/mixture_of_experts.h"

#include "heed/ops/adapter.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/embedding.h"
#include "heed/ops/softmax.h"

namespace heed::nn {

MixtureOfExperts::MixtureOfExperts(Parameters& parameters, const std::string& prefix,
                                   FeedForward::Settings expert, const MoeConfig& config)
    : scoring_(config.scoring),
      routing_{.top_k = config.experts_per_token,
               .normalize = config.norm_topk_prob,
               .scale = config.routed_scaling_factor,
               .n_group = config.n_group,
               .topk_group = config.topk_group,
               .best_of_group = config.scoring == RouterScoring::sigmoid ? 2 : 1},
      router_(parameters, prefix + "router",
              {.in = expert.d_model, .out = config.n_experts, .bias = config.router_bias},
              WeightRole::router),
      bias_(config.scoring == RouterScoring::sigmoid
                ? parameters.create(prefix + "router.e_score_correction_bias", {config.n_experts},
                                    Initializer::zeros(), WeightRole::router)
                : parameters.absent()),
      output_bias_(config.output_bias
                       ? parameters.create(prefix + "experts.bias", {1, expert.d_model},
                                           Initializer::zeros(), WeightRole::token_type_embedding)
                       : parameters.absent()) {
  expert.d_ff = config.d_expert;
  if (config.output_bias) expert.bias = false;
  WeightPlace place = parameters.place();
  place.expert = true;
  for (int64_t e = 0; e < config.n_experts; ++e) {
    const Parameters::Scope scope(parameters, place);
    experts_.emplace_back(parameters, prefix + "experts." + std::to_string(e) + ".", expert);
  }
  if (config.n_shared_experts == 0) return;
  expert.d_ff = config.n_shared_experts * config.d_expert;
  shared_.emplace(parameters, prefix + "shared_experts.", expert);
}

/// The output's bias for each of N tokens: [N, D].
Tensor MixtureOfExperts::output_bias(Context& context, int64_t rows) const {
  const std::vector<int32_t> first(static_cast<size_t>(rows), 0);
  return ops::embedding(context, {first, {}}, output_bias_, 1.0f, {});
}

Tensor MixtureOfExperts::forward(Context& context, const Tensor& x) const {
  const Tensor scores = ops::to_f32(context, router_.forward(context, x));  // [N, E]
  const Tensor probabilities = scoring_ == RouterScoring::sigmoid ? ops::sigmoid(context, scores)
                                                                  : ops::softmax(context, scores);
  if (context.tape && bias_.present()) context.tape->use(bias_);
  const ops::Routing routing = ops::route(context, probabilities, routing_, bias_.value);
  std::vector<Tensor> outputs(experts_.size());
  for (size_t e = 0; e < experts_.size(); ++e) {
    const auto rows = routing.rows(static_cast<int64_t>(e));
    if (rows.empty()) continue;
    const SelectedRows selected(context, rows);
    outputs[e] = experts_[e].forward(context, ops::gather_rows(context, x, rows));
  }
  Tensor routed = ops::combine(context, routing, outputs);  // [N, D]
  if (output_bias_.present()) routed = ops::add(context, routed, output_bias(context, x.rows()));
  if (!shared_) return routed;
  return ops::add(context, shared_->forward(context, x), routed);
}

}  // namespace heed::nn
