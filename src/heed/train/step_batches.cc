#include "heed/train/step_batches.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::train {

std::vector<std::vector<int64_t>> StepBatches::plan_of(int64_t epoch) const {
  return data::plan_epoch(lengths_, options_, epoch);
}

int64_t StepBatches::count(int64_t epoch) const { return std::ssize(plan_of(epoch)); }

std::vector<data::Batch> StepBatches::next(int64_t& epoch, int64_t& batch) {
  if (planned_epoch_ != epoch) plan_ = plan_of(epoch);
  planned_epoch_ = epoch;
  const int64_t count = std::ssize(plan_);
  require(batch >= 0 && batch < count, "the run is at batch {} of epoch {}, which has {} batches",
          batch, epoch, count);
  const int64_t end = std::min(batch + accumulation_, count);
  std::vector<data::Batch> batches;
  for (; batch < end; ++batch)
    batches.push_back(examples_.batch(plan_[static_cast<size_t>(batch)], epoch));
  if (batch == count) {
    batch = 0;
    ++epoch;
  }
  return batches;
}

}  // namespace heed::train
