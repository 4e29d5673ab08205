#pragma once

#include <algorithm>
#include <cstdint>
#include <queue>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/random.h"

namespace heed::train {

/// The places of `count` of `size` examples, but at most a tenth and at least one, chosen by the
/// seed, in order. Throws Error when there are fewer than two; `what` names an example in it.
inline std::vector<int64_t> held_out_places(int64_t size, int64_t count, uint64_t seed,
                                            std::string_view what) {
  require(size >= 2, "the number of training {}s is {}, too few to hold one out for validation",
          what, size);
  count = std::clamp<int64_t>(size / 10, 1, count);
  const CounterRandom random(seed, 0x686f6c64);             // "hold"
  std::priority_queue<std::pair<uint64_t, int64_t>> least;  // those with the least numbers
  for (int64_t place = 0; place < size; ++place) {
    const std::pair own{random.bits(static_cast<uint64_t>(place)), place};
    if (std::ssize(least) == count && own > least.top()) continue;
    least.push(own);
    if (std::ssize(least) > count) least.pop();
  }
  std::vector<int64_t> places;
  for (; !least.empty(); least.pop()) places.push_back(least.top().second);
  std::ranges::sort(places);
  return places;
}

/// Moves the examples at held_out_places() out of `train` and returns them.
template <typename Example>
std::vector<Example> hold_out(std::vector<Example>& train, int64_t count, uint64_t seed,
                              std::string_view what) {
  std::vector<bool> held(train.size());
  for (const int64_t place : held_out_places(std::ssize(train), count, seed, what))
    held[static_cast<size_t>(place)] = true;
  std::vector<Example> kept, valid;
  for (size_t i = 0; i < train.size(); ++i) (held[i] ? valid : kept).push_back(std::move(train[i]));
  train = std::move(kept);
  return valid;
}

}  // namespace heed::train
