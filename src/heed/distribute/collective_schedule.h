#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace heed::distribute {

/// A send to one rank and a receive from one rank at the same time. Either may be empty, on both
/// sides.
struct Exchange {
  int to = 0;
  std::span<const std::byte> out;
  int from = 0;
  std::span<std::byte> in;
};

/// An exchange, and what the rank computes after it.
struct Round {
  Exchange exchange;
  std::function<void()> then = {};
};

/// What one rank does in a collective operation: its rounds, in this order.
using CollectiveSchedule = std::vector<Round>;

}  // namespace heed::distribute
