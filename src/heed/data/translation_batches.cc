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

/// Texts by their numbers, longest first.
class Order {
 public:
  explicit Order(std::span<const int64_t> lengths) : lengths_(lengths), numbers_(lengths.size()) {
    std::iota(numbers_.begin(), numbers_.end(), int64_t{0});
    std::stable_sort(numbers_.begin(), numbers_.end(),
                     [this](int64_t a, int64_t b) { return length(a) > length(b); });
  }

  int64_t length(int64_t number) const { return lengths_[static_cast<size_t>(number)]; }
  std::span<const int64_t> numbers() const { return numbers_; }

 private:
  std::span<const int64_t> lengths_;
  std::vector<int64_t> numbers_;
};

/// How many batches of at most `most` tokens, no text being longer than half of that, are as many
/// for every thread.
int64_t batches_for(int64_t total, int64_t longest, const BatchTokens& tokens, int64_t threads) {
  const int64_t enough_for = total / std::max<int64_t>(tokens.least, 1);
  const int64_t sharing = std::clamp<int64_t>(enough_for, 1, std::max<int64_t>(threads, 1));
  const int64_t batches = ceil_div(total, std::max<int64_t>(tokens.most - longest, 1));
  return sharing * std::max<int64_t>(ceil_div(batches, sharing), 1);
}

}  // namespace

std::vector<std::vector<int64_t>> plan_by_tokens(std::span<const int64_t> lengths,
                                                 int64_t token_budget) {
  check(token_budget);
  const Order order(lengths);
  std::vector<std::vector<int64_t>> batches;
  int64_t tokens = 0;
  for (const int64_t number : order.numbers()) {
    if (batches.empty() || tokens + order.length(number) > token_budget) {
      batches.emplace_back();
      tokens = 0;
    }
    batches.back().push_back(number);
    tokens += order.length(number);
  }
  return batches;
}

std::vector<std::vector<int64_t>> plan_for_threads(std::span<const int64_t> lengths,
                                                   const BatchTokens& tokens, int64_t threads) {
  check(tokens.most);
  const Order order(lengths);
  std::vector<std::vector<int64_t>> batches;
  std::span<const int64_t> rest = order.numbers();
  for (; !rest.empty() && order.length(rest.front()) > tokens.most / 2; rest = rest.subspan(1))
    batches.push_back({rest.front()});
  if (rest.empty()) return batches;
  int64_t total = 0;
  for (const int64_t number : rest) total += order.length(number);
  const int64_t count = batches_for(total, order.length(rest.front()), tokens, threads);
  // A text belongs to the batch that its first token falls into.
  int64_t before = 0, last = -1;
  for (const int64_t number : rest) {
    const int64_t batch = before * count / std::max<int64_t>(total, 1);
    if (batch != last) batches.emplace_back();
    last = batch;
    batches.back().push_back(number);
    before += order.length(number);
  }
  return batches;
}

}  // namespace heed::data
