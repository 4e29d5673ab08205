#pragma once

#include <vector>

#include "heed/distribute/shards.h"
#include "heed/train/trained_part.h"

namespace heed::train {

/// Gradients of several parameters end to end, which ranks add together. Divided into as many
/// pieces as a step has leaves, so that the sums of a piece do not depend on the number of ranks.
struct GradientBucket {
  struct Place {
    Parameter* parameter;
    int64_t begin;  // of its elements in the bucket
    int64_t end() const { return begin + parameter->shape.elements(); }
  };
  std::vector<Place> places;
  int64_t elements = 0;
  distribute::Bounds pieces;
};

/// Bytes of a bucket that is full; one of a single parameter may be larger.
constexpr int64_t kBucketBytes = int64_t{32} << 20;

/// Buckets of the parameters in this order. Pieces begin at multiples of 64 elements, or with
/// `keep_matrices` where the parameters of rank 2 begin and end, since Muon and SOAP change whole
/// matrices.
std::vector<GradientBucket> gradient_buckets(const std::vector<Parameter*>& order, int64_t pieces,
                                             bool keep_matrices);

/// The parts of the parameters in elements [begin, end) of a bucket.
std::vector<TrainedPart> parts_between(const GradientBucket& bucket, int64_t begin, int64_t end);

}  // namespace heed::train
