#pragma once

#include <cstdint>
#include <vector>

#include "heed/data/batch.h"
#include "heed/model/transformer.h"
#include "heed/train/machine.h"

namespace heed::train {

/// Of all batches of a step.
struct StepLoss {
  ops::Loss loss;
  StepTokens tokens;

  /// What a speed is counted in: tokens of the decoder, or of an encoder alone.
  int64_t tokens_read() const { return tokens.decoder > 0 ? tokens.decoder : tokens.source; }
};

struct StepLossOptions {
  DType dtype = DType::f32;
  float label_smoothing = 0;
  uint64_t seed = 1;  // of dropout, with the step
  int64_t step = 0;
};

/// The loss of all batches; adds to `gradients` those of the mean over all predictions.
StepLoss accumulate_gradients(const model::Transformer& model, Gradients& gradients,
                              const std::vector<data::Batch>& batches,
                              const StepLossOptions& options);

}  // namespace heed::train
