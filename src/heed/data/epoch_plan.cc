#include "heed/data/epoch_plan.h"

#include <algorithm>
#include <limits>

#include "heed/base/rounding.h"
#include "heed/data/permutation.h"

namespace heed::data {
namespace {

/// The number of plan_batches(): an epoch's, whose first part is the whole of most.
uint64_t number_of(int64_t epoch, int64_t part) {
  return static_cast<uint64_t>(epoch) | static_cast<uint64_t>(part) << 32;
}

constexpr uint64_t kPlaces = 0x706c616365;  // "place", of the random numbers

}  // namespace

EpochPlan::EpochPlan(const Dataset& examples, BatchOptions options, int64_t part)
    : examples_(examples), options_(options), parts_(ceil_div(examples.count(), part)) {}

/// Plans a part.
void EpochPlan::plan(int64_t epoch, int64_t part) {
  const int64_t count = examples_.count();
  const int64_t begin = count / parts_ * part + std::min(part, count % parts_);
  const int64_t end = begin + count / parts_ + (part < count % parts_ ? 1 : 0);
  const Permutation shuffled(count, options_.seed, kPlaces ^ (static_cast<uint64_t>(epoch) << 40));
  std::vector<int64_t> indices;
  std::vector<Lengths> lengths;
  for (int64_t place = begin; place < end; ++place) {
    indices.push_back(examples_.example_of_epoch(epoch, parts_ == 1 ? place : shuffled(place)));
    lengths.push_back(examples_.lengths_at(indices.back()));
  }
  batches_ = plan_batches(lengths, options_, number_of(epoch, part));
  for (std::vector<int64_t>& batch : batches_)
    for (int64_t& place : batch) place = indices[static_cast<size_t>(place)];
  epoch_ = epoch;
  part_ = part;
}

std::optional<std::vector<int64_t>> EpochPlan::batch(int64_t epoch, int64_t number) {
  if (parts_ == 0 || number < 0) return std::nullopt;
  if (epoch != epoch_ || number < first_) {
    first_ = 0;
    plan(epoch, 0);
  }
  while (number >= first_ + std::ssize(batches_)) {
    if (part_ + 1 == parts_) return std::nullopt;
    first_ += std::ssize(batches_);
    plan(epoch, part_ + 1);
  }
  return batches_[static_cast<size_t>(number - first_)];
}

int64_t EpochPlan::count(int64_t epoch) {
  if (parts_ == 0) return 0;
  if (epoch == counted_epoch_) return count_;
  batch(epoch, std::numeric_limits<int64_t>::max());
  counted_epoch_ = epoch;
  return count_ = first_ + std::ssize(batches_);
}

}  // namespace heed::data
