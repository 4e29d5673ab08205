#pragma once

#include <vector>

#include "heed/data/text_groups.h"
#include "heed/tensor/tensor.h"

namespace heed::train {

/// The loss of vectors.
struct VectorLossResult {
  std::vector<double> losses;  // [E], whose mean is the loss
  Tensor gradient;             // of the vectors, f32, of the mean
  bool likelihood = false;     // whether they are -log of probabilities
};

/// The loss that `groups` asks for of the vectors [T, D] f32 of their texts, or [N, D] of tokens of
/// these: one function of all
/// examples of a step, since those of other examples are negatives (infonce) or are compared
/// (cosent). In infonce, a text that equals an example's own document, and the document of a query
/// with the same text, are no negatives of that example. Products are f32, other sums f64; a result
/// does not depend on threads.
VectorLossResult vector_loss(const Tensor& vectors, const data::TextGroups& groups);

}  // namespace heed::train
