#include "heed/model/classifier.h"

#include "heed/ops/activation.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/rows.h"

namespace heed::model {
namespace {

std::vector<int32_t> last_tokens(std::span<const int32_t> ids, const std::vector<int32_t>& offsets,
                                 int32_t pad_id) {
  std::vector<int32_t> rows;
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    int32_t row = offsets[b + 1] - 1;
    while (row > offsets[b] && ids[static_cast<size_t>(row)] == pad_id) --row;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

Classifier::Classifier(nn::Parameters& parameters, const ModelConfig& c)
    : activation_(c.classifier.activation),
      out_proj_(parameters, "classifier.out_proj",
                {c.d_model, std::ssize(c.classifier.labels), c.classifier.bias}, WeightRole::head) {
  if (!c.classifier.transform) return;
  dense_.emplace(parameters, "classifier.dense",
                 nn::Linear::Sizes{c.d_model, c.d_model, c.classifier.transform_bias},
                 WeightRole::head_transform);
  if (c.classifier.transform_norm)
    norm_.emplace(
        parameters, "classifier.layer_norm",
        nn::Norm::Settings{
            .kind = c.norm, .d_model = c.d_model, .epsilon = c.norm_epsilon, .bias = c.norm_bias});
}

Tensor Classifier::logits(Context& context, const Tensor& states) const {
  Tensor x = states;
  if (dense_) x = ops::activation(context, activation_, dense_->forward(context, x));
  if (norm_) x = norm_->forward(context, x);
  return out_proj_.forward(context, x);
}

Tensor classified_states(Context& context, const ModelConfig& config, const Tensor& states,
                         std::span<const int32_t> ids, const std::vector<int32_t>& offsets) {
  if (config.classifier.kind == ClassifierConfig::Kind::token) return states;
  switch (config.classifier.pooling) {
    case ClassifierConfig::Pooling::first:
      return ops::gather_rows(context, states, std::span(offsets).first(offsets.size() - 1));
    case ClassifierConfig::Pooling::last:
      return ops::gather_rows(context, states, last_tokens(ids, offsets, config.pad_id));
    case ClassifierConfig::Pooling::mean:
      return ops::convert(context, ops::mean_rows(context, ops::to_f32(context, states), offsets),
                          states.dtype());
  }
  return states;
}

}  // namespace heed::model
