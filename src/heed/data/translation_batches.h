#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed::data {

/// Batches for translating: indices into `lengths` (tokens of each source), each once, longest
/// first, of at most `token_budget` tokens unless one alone has more; equal lengths stay in order.
/// A result goes back to the place that its index names. Throws Error when the budget is below 1.
std::vector<std::vector<int64_t>> plan_by_tokens(std::span<const int64_t> lengths,
                                                 int64_t token_budget);

/// Tokens of the batches that threads take, each a whole one.
struct BatchTokens {
  int64_t most = 0;   // of a batch
  int64_t least = 1;  // of all, for each thread that has batches of its own
};

/// The same for `threads` threads that take a batch each, one after the other: as many batches for
/// every thread, of about the same size, as long as there are `least` tokens for it. A text of more
/// than half of `most` is alone. Throws Error when `most` is below 1.
std::vector<std::vector<int64_t>> plan_for_threads(std::span<const int64_t> lengths,
                                                   const BatchTokens& tokens, int64_t threads);

}  // namespace heed::data
