#pragma once

#include <span>
#include <vector>

#include "heed/data/batch.h"
#include "heed/data/batch_plan.h"

namespace heed::data {

/// Numbered examples that a model learns from or is judged by, and the batches they make.
class Dataset {
 public:
  virtual ~Dataset() = default;

  /// How many examples there are.
  virtual int64_t count() const = 0;
  /// Tokens of each example, by which batches are planned.
  virtual std::vector<Lengths> lengths() const = 0;
  /// The examples at `indices`, in this order, as they are in an epoch: a pure function. Throws
  /// Error on an index of no example.
  virtual Batch batch(std::span<const int64_t> indices, int64_t epoch) const = 0;
};

}  // namespace heed::data
