#pragma once

#include <span>
#include <vector>

#include "heed/data/batch.h"
#include "heed/data/batch_plan.h"

namespace heed::data {

/// Examples for training or evaluation, and the batches made from them.
class Dataset {
 public:
  virtual ~Dataset() = default;

  /// The number of examples, which is also that of an epoch's places.
  virtual int64_t count() const = 0;
  /// The example at a place of an epoch: each comes up once, unless the dataset draws some more
  /// often than others. A pure function of its arguments.
  virtual int64_t example_of_epoch(int64_t /*epoch*/, int64_t place) const { return place; }
  /// The lengths of the example at `index`, for plan_batches(). Throws Error as batch() does.
  virtual Lengths lengths_at(int64_t index) const = 0;
  /// The lengths of all examples.
  std::vector<Lengths> lengths() const;
  /// The examples at `indices`, in this order; a pure function of the indices and the epoch. Throws
  /// Error on an index out of range.
  virtual Batch batch(std::span<const int64_t> indices, int64_t epoch) const = 0;
};

}  // namespace heed::data
