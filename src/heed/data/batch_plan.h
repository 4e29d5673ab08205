#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/data/batch.h"

namespace heed::data {

/// The number of tokens on each side of an example.
struct Lengths {
  int32_t source = 0, target = 0;
};

Lengths lengths_of(const Example& example);

struct BatchOptions {
  int64_t token_budget = 4096;  // maximum of source tokens, and of target tokens, per batch
  uint64_t seed = 1;
  bool by_length = true;  // false: each batch has examples of any length
};

/// Batches of the examples that have `lengths`, as indices into these; each occurs once. Examples
/// of similar length share a batch, because the cost of attention is quadratic in the length and
/// steps should take similar time; random jitter gives each example different neighbours for every
/// `number`; without by_length a batch has random examples. The order of the batches is random. No
/// batch exceeds the budget, except that an example longer than the budget is a batch of its own. A
/// pure function of its arguments. Throws Error when the budget is below 1.
std::vector<std::vector<int64_t>> plan_batches(const std::vector<Lengths>& lengths,
                                               const BatchOptions& options, uint64_t number);

}  // namespace heed::data
