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

  /// Logits [M, labels] of states [M, D], which are pooled where a text has one.
  Tensor logits(Context& context, const Tensor& states) const;

 private:
  kernels::Activation activation_;
  std::optional<nn::Linear> dense_;
  std::optional<nn::Norm> norm_;
  nn::Linear out_proj_;
};

/// The states [N, D] that a classifier reads: all of them for token classification, else one for
/// each of the sequences `offsets` [B+1] of `ids` [N]. The last token is the last one that is not
/// padding.
Tensor classified_states(Context& context, const ModelConfig& config, const Tensor& states,
                         std::span<const int32_t> ids, const std::vector<int32_t>& offsets);

}  // namespace heed::model
