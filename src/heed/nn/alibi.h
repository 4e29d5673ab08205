#pragma once

#include <cstdint>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed::nn {

/// Attention with linear biases (Press et al. 2022), symmetric as in encoders (JinaBERT, Günther et
/// al. 2023): head h subtracts slope_h |j - i| from the score of key j and query i.
class Alibi {
 public:
  /// The slopes are 2^(-8 k / H) for k = 1 to H where H is a power of two; otherwise those of the
  /// next smaller power of two P, and then every other one of 2 P.
  explicit Alibi(int64_t n_heads);

  /// For keys up to `reach` - 1 tokens away: [H, 2 reach - 1] f32, as kernels::AttentionForward
  /// takes it.
  Tensor forward(int64_t reach) const;

 private:
  std::vector<float> slopes_;  // [H]
};

}  // namespace heed::nn
