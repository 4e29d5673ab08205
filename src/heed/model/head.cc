#include "heed/model/head.h"

#include "heed/base/error.h"
#include "heed/kernels/soft_cap.h"
#include "heed/ops/activation.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/multiply.h"

namespace heed::model {

Head::Head(nn::Parameters& parameters, const ModelConfig& c, const Parameter& embedding)
    : scale_(c.head_scale),
      soft_cap_(c.final_logit_softcapping),
      activation_(c.activation),
      weight_(c.tied_head ? embedding
                          : parameters.create("lm_head.weight", {c.vocab_size, c.d_model},
                                              nn::Initializer::xavier(), WeightRole::head)),
      bias_(c.head_bias ? parameters.create("final_logits_bias", {c.vocab_size},
                                            nn::Initializer::zeros(), WeightRole::head)
                        : parameters.absent()) {
  if (!c.head_transform) return;
  dense_.emplace(parameters, "lm_head.dense",
                 nn::Linear::Sizes{c.d_model, c.d_model, c.head_transform_bias},
                 WeightRole::head_transform);
  norm_.emplace(
      parameters, "lm_head.layer_norm",
      nn::Norm::Settings{
          .kind = c.norm, .d_model = c.d_model, .epsilon = c.norm_epsilon, .bias = c.norm_bias});
}

Tensor Head::transform(Context& context, const Tensor& states) const {
  if (scale_ != 1.0f) return ops::scale(context, states, scale_);
  if (!dense_) return states;
  return norm_->forward(context,
                        ops::activation(context, activation_, dense_->forward(context, states)));
}

Tensor Head::logits(Context& context, const Tensor& states) const {
  require(!context.tape, "logits have no backward step: train through loss()");
  Tensor logits = Tensor::empty({states.rows(), weight_.shape[0]});
  ops::multiply(transform(context, states), weight_, bias_, logits);
  if (soft_cap_ != 0.0f) kernels::soft_cap(soft_cap_, logits);
  return logits;
}

ops::Loss Head::loss(Context& context, const Tensor& states, std::span<const int32_t> targets,
                     kernels::CrossEntropyOptions options) const {
  options.soft_cap = soft_cap_;
  return ops::cross_entropy(context, transform(context, states), weight_, bias_, targets, options);
}

}  // namespace heed::model
