#pragma once

#include <span>
#include <vector>

#include "heed/distribute/group.h"
#include "heed/train/step_loss.h"

namespace heed::train {

/// The loss of all vectors of a step, and its gradients by those of each batch, so that the passes
/// over the batches can run one after the other in the memory of one (GradCache: Gao et al. 2021).
struct VectorGradients {
  std::vector<Tensor>
      of_batches;                 // of the vectors of each batch, f32, of the mean loss of the step
  std::vector<ops::Loss> losses;  // the sums over the examples of each
};

/// Whether a loss compares texts of several batches with each other.
bool compares_batches(std::span<const data::Batch> batches);

/// The batches of a step that are this rank's: [begin, end). Each rank has the next ones.
struct OwnBatches {
  size_t begin, end;
  distribute::Group& group;
};

/// Computes the vectors of all texts of a step, with the dropout that the passes of training will
/// have, and their loss. Collective.
VectorGradients vector_gradients(const model::Transformer& model, Gradients& gradients,
                                 std::span<const data::Batch> batches, OwnBatches own,
                                 const StepLossOptions& options, GradientHook* hook);

}  // namespace heed::train
