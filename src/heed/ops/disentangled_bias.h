#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heed/ops/context.h"

namespace heed::ops {

/// What positions add to the scores of disentangled attention, kernels::DisentangledBias; the
/// tables may be absent.
struct DisentangledInput {
  const Tensor &q, &k;                                  // [N, H d]
  const Tensor &position_keys, &position_queries;       // [W, H d]
  std::shared_ptr<const std::vector<int32_t>> offsets;  // [B+1]
  std::shared_ptr<const std::vector<int32_t>> rows;     // [2R - 1], do not decrease
  int64_t n_heads = 1;
  float scale = 1.0f;
};
/// [H, P] f32, AttentionInput::pair_bias. Throws Error on widths that do not fit, on rows outside
/// the tables, and on a sequence of more than R tokens.
Tensor disentangled_bias(Context& context, const DisentangledInput& input);

/// How DeBERTa's distances share rows of its tables (He et al. 2021, section 4 of version 2): half
/// of `buckets` distances have rows of their own, the others share rows logarithmically up to
/// max_distance. Without buckets each distance has its own, up to max_distance.
struct DistanceRows {
  int64_t buckets = 0;
  int64_t max_distance = 0;

  /// Rows of a table: two for each distance.
  int64_t count() const { return 2 * span(); }
  /// The row of a query `distance` places after its key (before it when negative).
  int64_t row(int64_t distance) const;

 private:
  int64_t span() const { return buckets > 0 ? buckets : max_distance; }
};

}  // namespace heed::ops
