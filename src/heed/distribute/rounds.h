#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace heed::distribute {

/// What a rank sends to one rank and receives from one at the same time. Either may be empty, on
/// both sides.
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

/// What one rank does in a collective operation, in this order.
using Rounds = std::vector<Round>;

}  // namespace heed::distribute
