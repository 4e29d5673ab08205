#pragma once

#include <memory>

#include "heed/kernels/attention.h"
#include "heed/ops/context.h"
#include "heed/ops/parameter.h"

namespace heed::ops {

/// softmax(Q K^T scale + mask) V for every head (Vaswani et al. 2017, equation 1), over sequences
/// laid end to end: q [Nq, H d], k [Nk, G d], v [Nk, G dv]; the result is [Nq, H dv]. Dropout in
/// the options is a rate; its key is drawn here. Throws Error on heads or widths that do not fit.
struct AttentionInput {
  const Tensor &q, &k, &v;
  Tensor relative_bias = {};  // [H, 2 R - 1] f32, see kernels::AttentionForward; may be absent
  Tensor pair_bias = {};      // [H, P] f32, see kernels::AttentionForward; may be absent
  const Parameter* sinks = nullptr;  // [H] f32, see kernels::AttentionForward; null: none
  std::shared_ptr<const kernels::AttentionMetadata> spans;
  kernels::AttentionOptions options;
  AttentionSite site = {};
};
Tensor attention(Context& context, const AttentionInput& input);

}  // namespace heed::ops
