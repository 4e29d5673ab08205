#pragma once

#include <string>

#include "heed/nn/parameters.h"
#include "heed/ops/relative_bias.h"

namespace heed::nn {

/// A learned number per head and bucket of distances, added to the scores of self-attention (Raffel
/// et al. 2020, 2.1): near distances have buckets of their own, far ones share.
class RelativeBias {
 public:
  /// The parameter is `name`.weight [buckets, H].
  RelativeBias(Parameters& parameters, const std::string& name, int64_t n_heads,
               const ops::RelativeBuckets& buckets)
      : buckets_(buckets),
        weight_(parameters.create(name + ".weight", {buckets.buckets, n_heads},
                                  Initializer::normal(kDeviation), WeightRole::relative_bias)) {}

  /// For keys up to `reach` - 1 tokens away: [H, 2 reach - 1] f32.
  Tensor forward(Context& context, int64_t reach) const {
    return ops::relative_bias(context, weight_, buckets_, reach);
  }

 private:
  static constexpr float kDeviation = 0.02f;
  ops::RelativeBuckets buckets_;
  const Parameter& weight_;
};

}  // namespace heed::nn
