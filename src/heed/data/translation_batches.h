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

}  // namespace heed::data
