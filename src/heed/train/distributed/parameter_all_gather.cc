#include "heed/train/distributed/parameter_all_gather.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/rounding.h"
#include "heed/kernels/elementwise.h"

namespace heed::train {
namespace {

constexpr int64_t kAlignment = 64;
/// Messages are tensors of this type, so that a matrix in bf16 can be read in place.
constexpr DType kUnit = DType::bf16;
constexpr int64_t kUnitBytes = 2;

/// Whether passes read the parameter only in the type in which they compute: matrices of products,
/// and embeddings.
bool is_read_as_computed(const Parameter& parameter) {
  return parameter.shape.rank() > 1 &&
         (is_multiplied(parameter.role) || parameter.role == WeightRole::token_embedding);
}

std::span<std::byte> bytes_between(Tensor& message, int64_t begin, int64_t end) {
  return {message.raw() + begin, static_cast<size_t>(end - begin)};
}

}  // namespace

ParameterAllGather::ParameterAllGather(const ShardedBuckets& buckets, distribute::Group& group,
                                       DType pass_dtype)
    : buckets_(buckets), group_(group), pass_dtype_(pass_dtype), gathers_(buckets.count()) {}

ParameterAllGather::Layout ParameterAllGather::layout_of(size_t bucket, DType of_matrices) const {
  const std::vector<GradientBucket::Place>& places = buckets_[bucket].places;
  Layout layout;
  int64_t end = 0;
  for (const GradientBucket::Place& place : places) {
    layout.dtypes.push_back(is_read_as_computed(*place.parameter) ? of_matrices : DType::f32);
    layout.begins.push_back(end);
    end += round_up(bytes_of(layout.dtypes.back(), place.end() - place.begin), kAlignment);
  }
  layout.begins.push_back(end);
  size_t i = 0;  // the place of a bound
  for (const int64_t bound : buckets_.bounds(bucket)) {
    while (i < places.size() && places[i].end() <= bound) ++i;
    layout.shards.push_back(
        layout.begins[i] +
        (i < places.size() ? bytes_of(layout.dtypes[i], bound - places[i].begin) : 0));
  }
  return layout;
}

void ParameterAllGather::begin() { begin(pass_dtype_); }

void ParameterAllGather::begin(DType of_matrices) {
  if (group_.alone()) return;
  receive_all();
  remove_working_copies();
  for (const bool tables : {true, false})
    for (size_t i = buckets_.count(); i-- > 0;)
      if (buckets_[i].is_table() == tables) begin(i, of_matrices);
}

void ParameterAllGather::begin(size_t bucket, DType of_matrices) {
  Gather& gather = gathers_[bucket];
  gather.layout = layout_of(bucket, of_matrices);
  gather.message = Tensor::empty({gather.layout.begins.back() / kUnitBytes}, kUnit);
  write_own(bucket);
  gather.arrival =
      group_.all_gather(bytes_between(gather.message, 0, gather.layout.begins.back()),
                        gather.layout.shards, 1, std::make_shared<Tensor>(gather.message));
}

/// Elements [begin, end) of a place in the message of its bucket, which travels in bf16.
Tensor ParameterAllGather::Gather::bf16_elements(size_t place, int64_t begin, int64_t end) const {
  const int64_t first = layout.begins[place] / kUnitBytes;
  return elements_between(message, first + begin, first + end);
}

/// The bytes of elements [begin, end) of a place that travels in f32.
std::span<std::byte> ParameterAllGather::Gather::f32_bytes(size_t place, int64_t begin,
                                                           int64_t end) {
  constexpr int64_t kBytes = sizeof(float);
  return bytes_between(message, layout.begins[place] + begin * kBytes,
                       layout.begins[place] + end * kBytes);
}

/// Writes this rank's shard into the message of a bucket.
void ParameterAllGather::write_own(size_t bucket) {
  Gather& gather = gathers_[bucket];
  const auto [first, last] = buckets_.shard(bucket, group_.rank());
  const std::vector<GradientBucket::Place>& places = buckets_[bucket].places;
  for (size_t i = 0; i < places.size(); ++i) {
    const int64_t begin = std::max(first, places[i].begin) - places[i].begin;
    const int64_t end = std::min(last, places[i].end()) - places[i].begin;
    if (begin >= end) continue;
    const Tensor own = elements_between(places[i].parameter->value, begin, end);
    if (gather.layout.dtypes[i] == DType::f32) {
      copy_bytes(bytes_of_elements(own), gather.f32_bytes(i, begin, end));
    } else {
      Tensor target = gather.bf16_elements(i, begin, end);
      kernels::convert(own, target);
    }
  }
}

/// Waits for the message of a bucket, if it is under way, and sets its parameters.
void ParameterAllGather::receive(size_t bucket) {
  Gather& gather = gathers_[bucket];
  if (!gather.arrival.valid()) return;
  group_.wait(gather.arrival);
  const std::vector<GradientBucket::Place>& places = buckets_[bucket].places;
  for (size_t i = 0; i < places.size(); ++i) {
    Parameter& parameter = *places[i].parameter;
    const int64_t elements = parameter.shape.elements();
    if (gather.layout.dtypes[i] == DType::f32)
      copy_bytes(gather.f32_bytes(i, 0, elements), bytes_of_elements(parameter.value));
    else
      parameter.working = gather.bf16_elements(i, 0, elements).reshaped(parameter.shape);
  }
  gather.message = {};
}

void ParameterAllGather::receive_all() {
  for (size_t i = 0; i < buckets_.count(); ++i) receive(i);
}

void ParameterAllGather::await(const Parameter& parameter, DType dtype) {
  receive(buckets_.bucket_of(parameter));
  require(!parameter.working.defined() || parameter.working.dtype() == dtype,
          "{} is read in {}, but the ranks exchange it in {}", parameter.name, name_of(dtype),
          name_of(parameter.working.dtype()));
}

void ParameterAllGather::complete() {
  if (group_.alone()) return;
  receive_all();
  for (size_t i = 0; i < buckets_.count(); ++i)
    for (const GradientBucket::Place& place : buckets_[i].places)
      if (place.parameter->working.defined()) return all_gather();
}

void ParameterAllGather::all_gather() {
  begin(DType::f32);
  receive_all();
}

void ParameterAllGather::remove_working_copies() {
  for (size_t i = 0; i < buckets_.count(); ++i)
    for (const GradientBucket::Place& place : buckets_[i].places) place.parameter->working = {};
}

int64_t ParameterAllGather::bytes() const {
  int64_t sum = 0;
  if (group_.alone()) return sum;
  for (size_t i = 0; i < buckets_.count(); ++i) sum += layout_of(i, pass_dtype_).begins.back();
  return sum;
}

}  // namespace heed::train
