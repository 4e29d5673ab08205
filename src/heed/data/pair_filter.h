#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/data/examples.h"

namespace heed::data {

/// Which sentence pairs a model learns from. Lengths are in tokens, end of sequence included.
struct FilterOptions {
  int64_t max_tokens = 256;  // of either side
  double max_ratio = 5.0;    // of the longer side to the shorter one ...
  int64_t slack = 5;         // ... after taking this many tokens off the longer one
};

/// How many pairs were kept, and why the others were not (the first reason that holds).
struct FilterReport {
  int64_t kept = 0;
  int64_t empty = 0;     // a side without a token before end of sequence
  int64_t overlong = 0;  // a side above max_tokens
  int64_t lopsided = 0;  // longer > max_ratio * shorter + slack

  int64_t total() const { return kept + empty + overlong + lopsided; }
  /// "29000 of 29100 pairs kept; dropped: 3 empty, 90 overlong, 7 lopsided".
  std::string text() const;
};

/// Takes pairs that `options` exclude out of `examples`; the others keep their order.
FilterReport filter_examples(std::vector<Example>& examples, const FilterOptions& options);

}  // namespace heed::data
