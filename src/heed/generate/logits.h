#pragma once

#include "heed/model/transformer.h"

namespace heed::generate {

/// Throws Error when a row of logits [N, V] has a NaN or its largest logit is infinite: such a row
/// has no probabilities.
void check_logits(const Tensor& logits);

/// Transformer::logits() [N, V] of states [N, D]. Throws Error as check_logits() does.
Tensor checked_logits(const model::Transformer& model, Context& context, const Tensor& states);

}  // namespace heed::generate
