#include "heed/train/distributed/gradient_buckets.h"

#include <algorithm>

namespace heed::train {
namespace {

constexpr int64_t kBucketAlignment = 64;

/// The nearest position at which a piece may begin.
int64_t piece_begin(const GradientBucket& bucket, int64_t wanted, bool keep_matrices) {
  wanted -= wanted % kBucketAlignment;
  if (!keep_matrices) return wanted;
  for (const GradientBucket::Place& place : bucket.places)
    if (place.parameter->shape.rank() > 1 && place.begin < wanted && wanted < place.end())
      return wanted - place.begin < place.end() - wanted ? place.begin : place.end();
  return wanted;
}

bool is_table(const Parameter& parameter) { return parameter.role == WeightRole::token_embedding; }

/// The rank of a parameter's group in the order in which a backward pass completes their gradients.
int completion_group(const Parameter& parameter, bool only_looked_up) {
  if (only_looked_up) return 4;
  if (is_table(parameter)) return 0;
  if (parameter.place.stack == WeightPlace::Stack::encoder) return 3;
  // Those of all layers are read before the first layer of the decoder.
  return parameter.role == WeightRole::cross_key_value ? 2 : 1;
}

}  // namespace

bool GradientBucket::is_table() const { return train::is_table(*places.front().parameter); }

std::vector<GradientBucket> gradient_buckets(const std::vector<Parameter*>& trained,
                                             const BucketOptions& options) {
  std::vector<Parameter*> order(trained.rbegin(), trained.rend());
  const auto only_looked_up = [&](const Parameter* parameter) {
    return std::ranges::find(options.only_looked_up, parameter) != options.only_looked_up.end();
  };
  std::ranges::stable_sort(order, {}, [&](const Parameter* parameter) {
    return completion_group(*parameter, only_looked_up(parameter));
  });
  std::vector<GradientBucket> buckets;
  for (Parameter* const parameter : order) {
    const int64_t elements = parameter->shape.elements();
    const auto fits = [&](const GradientBucket& bucket) {
      return (bucket.elements + elements) * int64_t{sizeof(float)} <= options.bytes &&
             !is_table(*parameter) && !bucket.is_table();
    };
    if (buckets.empty() || !fits(buckets.back())) buckets.emplace_back();
    GradientBucket& bucket = buckets.back();
    bucket.only_looked_up = only_looked_up(parameter);
    bucket.places.push_back({parameter, bucket.elements});
    bucket.elements += elements;
  }
  for (GradientBucket& bucket : buckets) {
    for (int64_t i = 0; i < options.pieces; ++i)
      bucket.pieces.push_back(
          piece_begin(bucket, bucket.elements * i / options.pieces, options.keep_matrices));
    bucket.pieces.push_back(bucket.elements);
  }
  return buckets;
}

std::vector<Shard> parts_between(const GradientBucket& bucket, int64_t begin, int64_t end) {
  std::vector<Shard> parts;
  for (const auto& [parameter, offset] : bucket.places) {
    const int64_t elements = parameter->shape.elements();
    const int64_t first = std::clamp<int64_t>(begin - offset, 0, elements);
    const int64_t last = std::clamp<int64_t>(end - offset, 0, elements);
    if (first < last) parts.push_back({parameter, first, last});
  }
  return parts;
}

}  // namespace heed::train
