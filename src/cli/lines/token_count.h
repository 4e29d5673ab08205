#pragma once

#include <cstdint>
#include <vector>

#include "heed/generation.h"

namespace heed::cli {

/// The tokens of an output, or of all outputs of a command.
struct TokenCount {
  static constexpr size_t kColumns = 3;  // of numbers()

  TokenCount() = default;
  explicit TokenCount(const Generation& output)
      : generated(static_cast<int64_t>(output.tokens.size())),
        drafted(output.drafted_tokens),
        accepted(output.accepted_tokens) {}
  /// Reads sums of numbers(); without any, there was no output.
  explicit TokenCount(const std::vector<double>& sums) {
    if (sums.empty()) return;
    generated = static_cast<int64_t>(sums[0]);
    drafted = static_cast<int64_t>(sums[1]);
    accepted = static_cast<int64_t>(sums[2]);
  }

  /// A row of LineAnswer::rows.
  std::vector<double> numbers() const {
    return {static_cast<double>(generated), static_cast<double>(drafted),
            static_cast<double>(accepted)};
  }

  int64_t generated = 0;
  int64_t drafted = 0, accepted = 0;  // of speculative decoding
};

}  // namespace heed::cli
