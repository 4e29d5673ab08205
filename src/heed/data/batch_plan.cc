#include "heed/data/batch_plan.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/random.h"

namespace heed::data {
namespace {

/// Relative jitter of lengths before sorting, in either direction.
constexpr double kJitter = 0.25;
/// The number of upcoming examples that are tried to fill a batch.
constexpr size_t kLookAhead = 64;

/// The random-number streams of a plan.
uint64_t jitter_stream(uint64_t number) { return 2 * number; }
uint64_t order_stream(uint64_t number) { return jitter_stream(number) + 1; }

/// All examples by increasing jittered length, or in random order.
std::vector<int64_t> ordered(const std::vector<Lengths>& lengths, bool by_length,
                             const CounterRandom& random) {
  std::vector<std::pair<double, int64_t>> keys(lengths.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    const double length =
        by_length ? static_cast<double>(lengths[i].source) + lengths[i].target : 1.0;
    keys[i] = {length * (1 + kJitter * (2 * random.uniform(i) - 1)), static_cast<int64_t>(i)};
  }
  std::sort(keys.begin(), keys.end());
  std::vector<int64_t> order(keys.size());
  std::transform(keys.begin(), keys.end(), order.begin(),
                 [](const auto& key) { return key.second; });
  return order;
}

/// Splits `order` into batches. An example that no longer fits may be overtaken by up to kLookAhead
/// later ones.
std::vector<std::vector<int64_t>> fill(const std::vector<Lengths>& lengths, int64_t budget,
                                       const std::vector<int64_t>& order) {
  std::vector<std::vector<int64_t>> batches;
  std::vector<int64_t> waiting;    // upcoming examples, in order
  int64_t source = 0, target = 0;  // tokens of the last batch
  const auto fits = [&](int64_t index) {
    const Lengths& added = lengths[static_cast<size_t>(index)];
    return source + added.source <= budget && target + added.target <= budget;
  };
  for (size_t next = 0; next < order.size() || !waiting.empty();) {
    while (waiting.size() < kLookAhead && next < order.size()) waiting.push_back(order[next++]);
    auto found = std::ranges::find_if(waiting, fits);
    if (batches.empty() || found == waiting.end()) {
      batches.emplace_back();
      source = target = 0;
      found = waiting.begin();
    }
    batches.back().push_back(*found);
    source += lengths[static_cast<size_t>(*found)].source;
    target += lengths[static_cast<size_t>(*found)].target;
    waiting.erase(found);
  }
  return batches;
}

}  // namespace

Lengths lengths_of(const Example& example) {
  return {static_cast<int32_t>(example.source.size()), static_cast<int32_t>(example.target.size())};
}

std::vector<std::vector<int64_t>> plan_batches(const std::vector<Lengths>& lengths,
                                               const BatchOptions& options, uint64_t number) {
  require(options.token_budget >= 1, "the token budget of a batch is {}, expected at least 1",
          options.token_budget);
  const CounterRandom jitter(options.seed, jitter_stream(number));
  auto batches = fill(lengths, options.token_budget, ordered(lengths, options.by_length, jitter));
  const CounterRandom order(options.seed, order_stream(number));
  for (size_t i = batches.size(); i > 1; --i) std::swap(batches[i - 1], batches[order.below(i, i)]);
  return batches;
}

}  // namespace heed::data
