#pragma once

#include <cstdint>
#include <span>

#include "heed/data/batch.h"
#include "heed/model/transformer.h"
#include "heed/train/distributed/machine.h"

namespace heed::train {

struct VectorGradients;

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
  float alignment_weight = 0;   // see batch_loss()
  bool rounds_to_int8 = false;  // see Context
  uint64_t seed = 1;            // dropout masks are a function of seed and step
  int64_t step = 0;
  int64_t gradient_accumulation_steps = 1;  // batches of a microbatch
  /// If the batches are a part of the step's: the number of the first one, and the loss terms of
  /// the whole step; 0: those of these batches.
  size_t first_batch = 0;
  int64_t terms = 0;
  /// If the loss compares texts of all batches of the step: what it gives (vector_gradients()).
  const VectorGradients* vectors = nullptr;
};

StepTokens tokens_of(std::span<const data::Batch> batches);
/// The predicted tokens, or pairs of answers, over which the loss is a mean.
int64_t loss_terms(std::span<const data::Batch> batches);

/// The context of a pass over a batch of the step.
Context training_context(const StepLossOptions& options, size_t batch, Tape& tape);

/// Runs forward and backward passes over the batches. Adds to `gradients` the gradient of the mean
/// loss over all loss_terms(). `hook` is called for the parameters of each pass.
StepLoss accumulate_gradients(const model::Transformer& model, Gradients& gradients,
                              std::span<const data::Batch> batches, const StepLossOptions& options,
                              GradientHook* hook = nullptr);

}  // namespace heed::train
