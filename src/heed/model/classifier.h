#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heed/model/config.h"
#include "heed/nn/linear.h"
#include "heed/nn/norm.h"

namespace heed::model {

/// From states to the logits of labels, as ClassifierConfig describes it.
class Classifier {
 public:
  /// Parameters are classifier.dense, classifier.layer_norm and classifier.out_proj.
  Classifier(nn::Parameters& parameters, const ModelConfig& config);

  /// Logits of the states [N, D] of the sequences `offsets` [B+1] of `ids` [N]: [N, labels] for
  /// token classification, else [B, labels]. The last token is the last one that is not padding.
  Tensor logits(Context& context, const Tensor& states, std::span<const int32_t> ids,
                const std::vector<int32_t>& offsets) const;

 private:
  Tensor pooled(Context& context, const Tensor& x, std::span<const int32_t> ids,
                const std::vector<int32_t>& offsets) const;

  bool pools_;  // one state of a text; false: all of its states have logits
  ClassifierConfig::Pooling pooling_;
  int32_t pad_id_;
  kernels::Activation activation_;
  std::optional<nn::Linear> dense_;
  std::optional<nn::Norm> norm_;
  nn::Linear out_proj_;
};

}  // namespace heed::model
