#pragma once

#include <cstdint>
#include <span>

namespace heed::metrics {

/// The edits that make the reference of the hypothesis (Snover et al., 2006): insertions,
/// deletions and substitutions of words, and shifts of up to 10 words over up to 50. Which shifts
/// are tried, in which order and how many, is what sacrebleu does, whose heuristics are those of
/// Tercom. Both are ids of words. Time is proportional to the lengths times a constant of some
/// thousands.
int64_t shifted_edits(std::span<const int32_t> hypothesis, std::span<const int32_t> reference);

}  // namespace heed::metrics
