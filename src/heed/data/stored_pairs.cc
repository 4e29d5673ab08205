#include "heed/data/stored_pairs.h"

namespace heed::data {

Batch StoredPairs::batch(std::span<const int64_t> indices, int64_t) const {
  Batch batch;
  batch.source_offsets.push_back(0);
  batch.target_offsets.push_back(0);
  batch.examples.assign(indices.begin(), indices.end());
  for (const int64_t index : indices) append_example(file_.at(index), start_id_, batch);
  return batch;
}

}  // namespace heed::data
