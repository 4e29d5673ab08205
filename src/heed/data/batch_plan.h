#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/data/examples.h"

namespace heed::data {

/// Tokens of the two sides of an example.
struct Lengths {
  int32_t source = 0, target = 0;
};

std::vector<Lengths> lengths_of(std::span<const Example> examples);

struct BatchOptions {
  int64_t token_budget = 4096;  // most source tokens, and most target tokens, of a batch
  uint64_t seed = 1;
};

/// The batches of one epoch, as indices into `lengths`: each example once. Examples of similar
/// length share a batch (attention's work grows with the square of a length, so this evens out the
/// time of steps), with enough chance that neighbours differ from epoch to epoch; the order of the
/// batches is random. Since sequences are laid end to end nothing is padded, and batches come close
/// to the budget. None exceeds it, except that an example longer than the budget is a batch of its
/// own. A pure function of its arguments: (epoch, batch number) is a position one can resume from.
/// Throws Error when the budget is below 1.
std::vector<std::vector<int64_t>> plan_epoch(const std::vector<Lengths>& lengths,
                                             const BatchOptions& options, int64_t epoch);

}  // namespace heed::data
