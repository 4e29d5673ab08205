#include "heed/data/inference_batches.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "heed/base/rounding.h"

namespace heed::data {
namespace {

void check(int64_t token_budget) {
  require(token_budget >= 1, "the token budget of a batch is {}, expected at least 1",
          token_budget);
}

/// The indices of the texts, longest first.
std::vector<int64_t> longest_first(std::span<const int64_t> lengths) {
  std::vector<int64_t> indices(lengths.size());
  std::iota(indices.begin(), indices.end(), int64_t{0});
  std::ranges::stable_sort(indices, std::greater(),
                           [&](int64_t index) { return lengths[static_cast<size_t>(index)]; });
  return indices;
}

/// The number of batches: enough that each has at most max_per_batch tokens, and the same number
/// for every thread that is used. `longest` is at most half of max_per_batch.
int64_t batch_count(int64_t total, int64_t longest, const BatchTokens& tokens, int64_t threads) {
  const int64_t worthwhile = total / std::max<int64_t>(tokens.min_per_thread, 1);
  const int64_t used = std::clamp<int64_t>(worthwhile, 1, std::max<int64_t>(threads, 1));
  const int64_t batches = ceil_div(total, std::max<int64_t>(tokens.max_per_batch - longest, 1));
  return used * std::max<int64_t>(ceil_div(batches, used), 1);
}

}  // namespace

std::vector<std::vector<int64_t>> plan_by_tokens(std::span<const int64_t> lengths,
                                                 int64_t token_budget) {
  check(token_budget);
  std::vector<std::vector<int64_t>> batches;
  int64_t tokens = 0;
  for (const int64_t index : longest_first(lengths)) {
    const int64_t length = lengths[static_cast<size_t>(index)];
    if (batches.empty() || tokens + length > token_budget) {
      batches.emplace_back();
      tokens = 0;
    }
    batches.back().push_back(index);
    tokens += length;
  }
  return batches;
}

std::vector<std::vector<int64_t>> plan_for_threads(std::span<const int64_t> lengths,
                                                   const BatchTokens& tokens, int64_t threads) {
  check(tokens.max_per_batch);
  const auto length = [&](int64_t index) { return lengths[static_cast<size_t>(index)]; };
  const std::vector<int64_t> order = longest_first(lengths);
  std::vector<std::vector<int64_t>> batches;
  std::span<const int64_t> rest = order;
  for (; !rest.empty() && length(rest.front()) > tokens.max_per_batch / 2; rest = rest.subspan(1))
    batches.push_back({rest.front()});
  if (rest.empty()) return batches;
  int64_t total = 0;
  for (const int64_t index : rest) total += length(index);
  const int64_t count = batch_count(total, length(rest.front()), tokens, threads);
  // The tokens are divided evenly; a text belongs to the batch that contains its first token.
  int64_t before = 0, last = -1;
  for (const int64_t index : rest) {
    const int64_t batch = before * count / std::max<int64_t>(total, 1);
    if (batch != last) batches.emplace_back();
    last = batch;
    batches.back().push_back(index);
    before += length(index);
  }
  return batches;
}

}  // namespace heed::data
