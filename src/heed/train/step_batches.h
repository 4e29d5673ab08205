#pragma once

#include <cstdint>
#include <vector>

#include "heed/data/epoch_plan.h"

namespace heed::train {

/// The batches of a run's steps, epoch after epoch. A position is an epoch and the number of its
/// batches that are used up.
class StepBatches {
 public:
  /// A step has `accumulation` batches. `examples` must outlive this.
  StepBatches(const data::Dataset& examples, data::BatchOptions options, int64_t accumulation)
      : examples_(examples), plan_(examples, options), accumulation_(accumulation) {}

  /// The number of batches of an epoch.
  int64_t count(int64_t epoch) { return plan_.count(epoch); }
  /// Returns the batches of the step at a position and advances the position. The last step of an
  /// epoch may have fewer. Throws Error when the epoch has no batch at that position.
  std::vector<data::Batch> next(int64_t& epoch, int64_t& batch);

 private:
  const data::Dataset& examples_;
  data::EpochPlan plan_;
  int64_t accumulation_;
};

}  // namespace heed::train
