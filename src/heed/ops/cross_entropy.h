#pragma once

#include <cstdint>
#include <span>

#include "heed/kernels/cross_entropy.h"
#include "heed/ops/context.h"
#include "heed/ops/parameter.h"

namespace heed::ops {

/// Sums over the tokens of a batch.
struct Loss {
  double smoothed = 0;                 // the label-smoothed cross entropy that is minimised
  double negative_log_likelihood = 0;  // -sum log p(target), whose mean gives the perplexity
  int64_t tokens = 0;

  double mean() const { return smoothed / static_cast<double>(tokens); }
  double perplexity() const;
  Loss& operator+=(const Loss& other);
};

/// The vocabulary projection and the loss in one: logits = x W^T + b, then the label-smoothed cross
/// entropy with `targets` [N]; x [N, D], weight [V, D], bias [V] or absent. Logits exist for a few
/// hundred rows at a time only. The backward pass begins here: with a tape, the gradients of the
/// rows (times options.gradient_scale) are computed from their logits, those of the weight and the
/// bias are added at once unless they are frozen, and that of x is left on the tape.
Loss cross_entropy(Context& context, const Tensor& x, const Parameter& weight,
                   const Parameter& bias, std::span<const int32_t> targets,
                   kernels::CrossEntropyOptions options);

}  // namespace heed::ops
