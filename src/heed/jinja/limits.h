#pragma once

#include <cstddef>
#include <cstdint>

namespace heed::jinja {

/// What one rendering may use. A rendering that exceeds a limit ends with an Error.
struct Limits {
  /// Evaluated nodes, iterations and bytes handled (64 count as one step).
  uint64_t steps = 2'000'000;
  size_t output_bytes = size_t{16} << 20;
  /// Memory of all values that are alive: the context, strings, lists, texts under construction.
  size_t value_bytes = size_t{24} << 20;
  /// Nesting of evaluated nodes. A recursive macro takes about ten for each level.
  int depth = 500;
};

/// Lists in lists, dicts in dicts. Destructors and comparisons descend one level each.
inline constexpr int kMaxValueDepth = 100;

}  // namespace heed::jinja
