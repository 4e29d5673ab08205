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

  /// The number of examples.
  virtual int64_t count() const = 0;
  /// The length of each example, for plan_epoch().
  virtual std::vector<Lengths> lengths() const = 0;
  /// The examples at `indices`, in this order; a pure function of the indices and the epoch. Throws
  /// Error on an index out of range.
  virtual Batch batch(std::span<const int64_t> indices, int64_t epoch) const = 0;
};

}  // namespace heed::data
