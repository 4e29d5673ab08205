#include "heed/model/classifier.h"

#include <utility>

#include "heed/ops/activation.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/pool_rows.h"
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
    : pools_(c.classifier.kind == ClassifierConfig::Kind::sequence),
      pooling_(c.classifier.pooling),
      pad_id_(c.pad_id),
      activation_(c.classifier.activation),
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

Tensor Classifier::pooled(Context& context, const Tensor& x, std::span<const int32_t> ids,
                          const std::vector<int32_t>& offsets) const {
  switch (pooling_) {
    case ClassifierConfig::Pooling::first:
      return ops::gather_rows(context, x, std::span(offsets).first(offsets.size() - 1));
    case ClassifierConfig::Pooling::last:
      return ops::gather_rows(context, x, last_tokens(ids, offsets, pad_id_));
    case ClassifierConfig::Pooling::mean:
    case ClassifierConfig::Pooling::late:
      return ops::convert(context, ops::mean_rows(context, ops::to_f32(context, x), offsets),
                          x.dtype());
  }
  return x;
}

Tensor Classifier::logits(Context& context, const Tensor& states, std::span<const int32_t> ids,
                          const std::vector<int32_t>& offsets) const {
  const bool late = pooling_ == ClassifierConfig::Pooling::late;
  Tensor x = pools_ && !late ? pooled(context, states, ids, offsets) : states;
  if (dense_) x = ops::activation(context, activation_, dense_->forward(context, x));
  if (norm_) x = norm_->forward(context, std::move(x));
  // The mean of linear maps is the linear map of the mean.
  if (pools_ && late) x = pooled(context, x, ids, offsets);
  return out_proj_.forward(context, x);
}

}  // namespace heed::model
