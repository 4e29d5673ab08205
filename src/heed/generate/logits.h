#pragma once

#include "heed/model/transformer.h"

namespace heed::generate {

/// Transformer::logits() [N, V] of states [N, D], checked. Throws Error when a row has a NaN, or
/// when its largest logit is infinite: no probabilities follow from it.
Tensor checked_logits(const model::Transformer& model, Context& context, const Tensor& states);

}  // namespace heed::generate
