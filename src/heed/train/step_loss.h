#pragma once

#include <cstdint>
#include <vector>

#include "heed/data/batch.h"
#include "heed/model/transformer.h"
#include "heed/train/machine.h"

namespace heed::train {

/// The loss and the size of a step, summed over its batches.
struct StepLoss {
  ops::Loss loss;
  StepTokens tokens;

  /// The tokens that speed is measured in: the decoder's, or the encoder's in encoder-only models.
  int64_t tokens_read() const { return tokens.decoder > 0 ? tokens.decoder : tokens.source; }
};

struct StepLossOptions {
  DType dtype = DType::f32;
  float label_smoothing = 0;
  uint64_t seed = 1;  // dropout masks are a function of seed and step
  int64_t step = 0;
};

/// Runs forward and backward passes over the batches. Adds to `gradients` the gradient of the mean
/// loss over all predicted tokens, or pairs of answers.
StepLoss accumulate_gradients(const model::Transformer& model, Gradients& gradients,
                              const std::vector<data::Batch>& batches,
                              const StepLossOptions& options);

}  // namespace heed::train
