#pragma once

#include <cstdint>

#include "heed/generation.h"

namespace heed::cli {

/// The tokens of all outputs of a command.
struct TokenCount {
  int64_t generated = 0;
  int64_t drafted = 0, accepted = 0;  // of speculative decoding

  void add(const Generation& output) {
    generated += static_cast<int64_t>(output.tokens.size());
    drafted += output.drafted_tokens;
    accepted += output.accepted_tokens;
  }
};

}  // namespace heed::cli
