#pragma once

#include <optional>
#include <vector>

#include "heed/data/dataset.h"

namespace heed::data {

/// The batches of epochs. An epoch of many examples is planned in parts of random places, so that
/// a plan fits into memory whatever the number of examples. A pure function of the dataset and the
/// options, so that training can resume from an epoch and a number of batches.
class EpochPlan {
 public:
  /// The most examples of a part. A constant: plans must not depend on the machine.
  static constexpr int64_t kPart = int64_t{1} << 20;

  /// `examples` must outlive this. `part` is kPart except in tests.
  EpochPlan(const Dataset& examples, BatchOptions options, int64_t part = kPart);

  /// The number of batches of an epoch, which plans all its parts; that of the epoch that was asked
  /// for last is kept.
  int64_t count(int64_t epoch);
  /// The examples of a batch of an epoch; none after the last one.
  std::optional<std::vector<int64_t>> batch(int64_t epoch, int64_t number);

 private:
  void plan(int64_t epoch, int64_t part);

  const Dataset& examples_;
  BatchOptions options_;
  int64_t parts_;
  // The part that was asked for last.
  int64_t epoch_ = -1, part_ = 0;
  int64_t first_ = 0;  // number of its first batch
  int64_t counted_epoch_ = -1, count_ = 0;
  std::vector<std::vector<int64_t>> batches_;
};

}  // namespace heed::data
