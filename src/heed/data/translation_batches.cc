#include "heed/data/translation_batches.h"

#include <algorithm>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/rounding.h"

namespace heed::data {
namespace {

void check(int64_t token_budget) {
  require(token_budget >= 1, "the token budget of a batch is {}, expected at least 1",
          token_budget);
}

/// The indices of the texts, longest first.
class LongestFirst {
 public:
  explicit LongestFirst(std::span<const int64_t> lengths)
      : lengths_(lengths), indices_(lengths.size()) {
    std::iota(indices_.begin(), indices_.end(), int64_t{0});
    std::stable_sort(indices_.begin(), indices_.end(),
                     [this](int64_t a, int64_t b) { return length(a) > length(b); });
  }

  int64_t length(int64_t index) const { return lengths_[static_cast<size_t>(index)]; }
  std::span<const int64_t> indices() const { return indices_; }

 private:
  std::span<const int64_t> lengths_;
  std::vector<int64_t> indices_;
};

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
  const LongestFirst order(lengths);
  std::vector<std::vector<int64_t>> batches;
  int64_t tokens = 0;
  for (const int64_t index : order.indices()) {
    if (batches.empty() || tokens + order.length(index) > token_budget) {
      batches.emplace_back();
      tokens = 0;
    }
    batches.back().push_back(index);
    tokens += order.length(index);
  }
  return batches;
}

std::vector<std::vector<int64_t>> plan_for_threads(std::span<const int64_t> lengths,
                                                   const BatchTokens& tokens, int64_t threads) {
  check(tokens.max_per_batch);
  const LongestFirst order(lengths);
  std::vector<std::vector<int64_t>> batches;
  std::span<const int64_t> rest = order.indices();
  for (; !rest.empty() && order.length(rest.front()) > tokens.max_per_batch / 2;
       rest = rest.subspan(1))
    batches.push_back({rest.front()});
  if (rest.empty()) return batches;
  int64_t total = 0;
  for (const int64_t index : rest) total += order.length(index);
  const int64_t count = batch_count(total, order.length(rest.front()), tokens, threads);
  // The tokens are divided evenly; a text belongs to the batch that contains its first token.
  int64_t before = 0, last = -1;
  for (const int64_t index : rest) {
    const int64_t batch = before * count / std::max<int64_t>(total, 1);
    if (batch != last) batches.emplace_back();
    last = batch;
    batches.back().push_back(index);
    before += order.length(index);
  }
  return batches;
}

}  // namespace heed::data
