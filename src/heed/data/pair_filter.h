#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/data/batch.h"

namespace heed::data {

/// Limits on sentence pairs for training. Lengths are in tokens and include end of sequence.
struct FilterOptions {
  int64_t max_tokens = 256;  // per side
  double max_ratio = 5.0;    // maximum of (longer - slack) / shorter
  int64_t slack = 5;
};

/// The number of pairs kept, and of pairs dropped by the first limit that they exceed.
struct FilterReport {
  int64_t kept = 0;
  int64_t empty = 0;       // a side has no token before end of sequence
  int64_t too_long = 0;    // a side has more than max_tokens
  int64_t unbalanced = 0;  // longer > max_ratio * shorter + slack

  int64_t total() const { return kept + empty + too_long + unbalanced; }
  /// "29000 of 29100 pairs kept; dropped: 3 empty, 90 too long, 7 by length ratio".
  std::string text() const;
};

/// Removes the pairs that exceed a limit; the others keep their order.
FilterReport filter_examples(std::vector<Example>& examples, const FilterOptions& options);

}  // namespace heed::data
