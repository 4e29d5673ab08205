#pragma once

#include "heed/model/transformer.h"

namespace heed::generate {

/// Transformer::logits() [N, V] of states [N, D]. Throws Error when a row has a NaN or its largest
/// logit is infinite: such a row has no probabilities.
Tensor checked_logits(const model::Transformer& model, Context& context, const Tensor& states);

}  // namespace heed::generate
