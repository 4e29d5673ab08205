#include "heed/data/translation_batches.h"

#include <algorithm>
#include <numeric>

#include "heed/base/error.h"

namespace heed::data {

std::vector<std::vector<int64_t>> plan_by_tokens(std::span<const int64_t> lengths,
                                                 int64_t token_budget) {
  require(token_budget >= 1, "the token budget of a batch is {}, expected at least 1",
          token_budget);
  const auto length_of = [&](int64_t index) { return lengths[static_cast<size_t>(index)]; };
  std::vector<int64_t> order(lengths.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return length_of(a) > length_of(b); });
  std::vector<std::vector<int64_t>> batches;
  int64_t tokens = 0;
  for (const int64_t index : order) {
    if (batches.empty() || tokens + length_of(index) > token_budget) {
      batches.emplace_back();
      tokens = 0;
    }
    batches.back().push_back(index);
    tokens += length_of(index);
  }
  return batches;
}

}  // namespace heed::data
