#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/random.h"

namespace heed::train {

/// Moves `count` examples, but at most a tenth and at least one, chosen by the seed, out of `train`
/// and returns them. Throws Error when there are fewer than two; `what` names an example in it.
template <typename Example>
std::vector<Example> hold_out(std::vector<Example>& train, int64_t count, uint64_t seed,
                              std::string_view what) {
  require(train.size() >= 2,
          "the number of training {}s is {}, too few to hold one out for validation", what,
          train.size());
  count = std::clamp<int64_t>(static_cast<int64_t>(train.size()) / 10, 1, count);
  std::vector<size_t> order(train.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const CounterRandom random(seed, 0x686f6c64);  // "hold"
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return random.bits(a) < random.bits(b); });
  std::vector<bool> held(train.size());
  for (int64_t i = 0; i < count; ++i) held[order[static_cast<size_t>(i)]] = true;
  std::vector<Example> kept, valid;
  for (size_t i = 0; i < train.size(); ++i) (held[i] ? valid : kept).push_back(std::move(train[i]));
  train = std::move(kept);
  return valid;
}

}  // namespace heed::train
