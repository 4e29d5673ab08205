#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed::data {

/// Batches for inference: indices into `lengths` (tokens of each text), each once, longest first;
/// equal lengths keep their order. A batch has at most `token_budget` tokens, unless it is a single
/// longer text. Throws Error when the budget is below 1.
std::vector<std::vector<int64_t>> plan_by_tokens(std::span<const int64_t> lengths,
                                                 int64_t token_budget);

/// Limits for plan_for_threads().
struct BatchTokens {
  int64_t max_per_batch = 0;
  int64_t min_per_thread = 1;  // fewer threads are used when there are fewer tokens
};

/// The same for `threads` threads that each process whole batches: the batches have similar sizes,
/// and their number is a multiple of the number of threads used. A text longer than half of
/// `max_per_batch` is a batch of its own. Throws Error when `max_per_batch` is below 1.
std::vector<std::vector<int64_t>> plan_for_threads(std::span<const int64_t> lengths,
                                                   const BatchTokens& tokens, int64_t threads);

}  // namespace heed::data
