#pragma once

#include <vector>

#include "heed/distribute/shards.h"
#include "heed/train/distributed/shard.h"

namespace heed::train {

/// Gradients of several parameters end to end, which ranks reduce together. It is divided into as
/// many pieces as a step has microbatches, so that the sums of a piece do not depend on the number
/// of ranks.
struct GradientBucket {
  struct Place {
    Parameter* parameter;
    int64_t begin;  // of its elements in the bucket
    int64_t end() const { return begin + parameter->shape.elements(); }
  };
  /// Whether it holds token embeddings, and nothing else.
  bool is_table() const;

  std::vector<Place> places;
  int64_t elements = 0;
  distribute::Bounds pieces;
  bool only_looked_up = false;  // a table; its gradients are only those of looked-up rows
};

struct BucketOptions {
  int64_t pieces = 1;          // of each bucket
  bool keep_matrices = false;  // pieces begin and end where parameters of rank 2 do
  /// Token embeddings that are no factor of a product.
  std::vector<const Parameter*> only_looked_up = {};
  /// The size of a full bucket; one of a single parameter may be larger. Small, since the backward
  /// pass cannot hide the last reduction. A link stays busy, since Group reduces several at once.
  int64_t bytes = int64_t{8} << 20;
};

/// Buckets of the parameters of a model, which are given in its order. The buckets are in about the
/// order in which a backward pass completes their gradients:
/// - token embeddings that are tied to the head, each in a bucket of its own,
/// - the other parameters in reverse, the decoder's projections of the encoder's output after the
///   rest of the decoder,
/// - token embeddings that are only looked up.
/// The order follows from the model alone, because the norm of the gradient is summed in it. Pieces
/// begin at multiples of 64 elements, or with `keep_matrices` at the nearest bound of a matrix.
std::vector<GradientBucket> gradient_buckets(const std::vector<Parameter*>& trained,
                                             const BucketOptions& options);

/// The parts of the parameters in elements [begin, end) of a bucket.
std::vector<Shard> parts_between(const GradientBucket& bucket, int64_t begin, int64_t end);

}  // namespace heed::train
