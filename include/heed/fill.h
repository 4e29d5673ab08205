#pragma once

#include <cstdint>
#include <vector>

namespace heed {

/// A candidate and its probability.
struct TokenProbability {
  int32_t token = 0;       // a token id
  double probability = 0;  // of all tokens
};

/// Candidates for a masked token.
struct FilledMask {
  int64_t position = 0;                // in the tokens
  std::vector<TokenProbability> best;  // most probable first; of all tokens
};

/// A text and the candidates for its masked tokens.
struct FilledText {
  std::vector<int32_t> tokens;    // with special tokens
  std::vector<FilledMask> masks;  // in order of position
};

}  // namespace heed
