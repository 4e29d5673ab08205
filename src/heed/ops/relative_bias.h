#pragma once

#include <cstdint>

#include "heed/ops/context.h"
#include "heed/ops/parameter.h"

namespace heed::ops {

/// How distances share buckets (Raffel et al. 2020, 2.1): half of the buckets hold one distance
/// each, the others grow logarithmically up to max_distance; all larger distances share the last.
struct RelativeBuckets {
  int64_t buckets = 32;
  int64_t max_distance = 128;
  /// Later and earlier keys have half of the buckets each; otherwise later ones (which a causal
  /// query does not see) share the bucket of distance 0.
  bool bidirectional = false;

  /// The bucket of a key `distance` places after the query (before it when negative).
  int64_t bucket(int64_t distance) const;
};

/// The bias of every head and distance, as attention takes it: table [buckets, H] of any stored
/// dtype -> [H, 2 reach - 1] f32, column c for a key c - (reach - 1) places after the query. Throws
/// Error on a table of another shape and on impossible buckets.
Tensor relative_bias(Context& context, const Parameter& table, const RelativeBuckets& buckets,
                     int64_t reach);

}  // namespace heed::ops
