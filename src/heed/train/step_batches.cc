#include "heed/train/step_batches.h"

#include "heed/base/error.h"

namespace heed::train {

std::vector<data::Batch> StepBatches::next(int64_t& epoch, int64_t& batch) {
  std::vector<data::Batch> batches;
  auto examples = plan_.batch(epoch, batch);
  require(examples.has_value(), "the run is at batch {} of epoch {}, which has {} batches", batch,
          epoch, plan_.count(epoch));
  while (examples && std::ssize(batches) < accumulation_) {
    batches.push_back(examples_.batch(*examples, epoch));
    examples = plan_.batch(epoch, ++batch);
  }
  if (!examples) {
    batch = 0;
    ++epoch;
  }
  return batches;
}

}  // namespace heed::train
