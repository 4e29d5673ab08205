#pragma once

#include <vector>

#include "heed/train/losses/compared_vectors.h"
#include "heed/train/losses/score_losses.h"

namespace heed::train {

/// The losses [E] of texts with a vector for each token, whose scores are those of MaxSim: infonce,
/// margin_mse or kl_divergence, as sentence-transformers' MultiVectorMultipleNegativesRankingLoss,
/// MultiVectorMarginMSELoss and MultiVectorDistillKLDivLoss compute them. Adds the gradients of the
/// mean by the vectors, which have length 1.
std::vector<double> multi_vector_losses(const TextPlaces& places, ComparedVectors& vectors);

}  // namespace heed::train
