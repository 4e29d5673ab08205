#pragma once

#include "heed/distribute/group.h"
#include "heed/train/distributed/sharded_buckets.h"

namespace heed::train {

/// All-gathers the weights that each rank has changed, bucket by bucket, while the next pass
/// begins: the pass waits for a bucket when it first reads one of its parameters. With passes in
/// bf16, matrices travel in bf16, as passes read them (Parameter::working); everything else travels
/// in f32. All functions but await() are collective.
class ParameterAllGather {
 public:
  /// The buckets and the group must outlive this.
  ParameterAllGather(const ShardedBuckets& buckets, distribute::Group& group, DType pass_dtype);

  /// After the optimizer's step: begins to gather all buckets, in the order in which a pass reads
  /// them: token embeddings, then the reverse of the order of the buckets.
  void begin();
  /// Waits until a pass can read a parameter in `dtype`. Throws Error if it travels in another
  /// type.
  void await(const Parameter& parameter, DType dtype);
  /// Waits for all buckets. To be called before the optimizer's next step.
  void receive_all();
  /// Waits until all values are complete in f32, and removes the working copies.
  void complete();
  /// All-gathers what each rank has changed in f32, and waits for it.
  void all_gather();
  /// Bytes that it holds during a step.
  int64_t bytes() const;

 private:
  /// The places of a bucket's parameters in a message: each at a multiple of 64 bytes.
  struct Layout {
    std::vector<DType> dtypes;    // of each place of the bucket
    std::vector<int64_t> begins;  // of each place, in bytes; then the end
    distribute::Bounds shards;    // in bytes
  };
  /// The all-gather of a bucket.
  struct Gather {
    Tensor bf16_elements(size_t place, int64_t begin, int64_t end) const;
    std::span<std::byte> f32_bytes(size_t place, int64_t begin, int64_t end);

    Layout layout;
    Tensor message;
    std::future<void> arrival;  // valid until the message has been received
  };

  Layout layout_of(size_t bucket, DType of_matrices) const;
  void begin(DType of_matrices);
  void begin(size_t bucket, DType of_matrices);
  void write_own(size_t bucket);
  void receive(size_t bucket);
  void remove_working_copies();

  const ShardedBuckets& buckets_;
  distribute::Group& group_;
  DType pass_dtype_;
  std::vector<Gather> gathers_;  // of each bucket
};

}  // namespace heed::train
