#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "heed/train/events.h"

namespace heed::train {

/// "perplexity 12.34, BLEU 23.45, chrF 45.67 (best)".
std::string scores_text(const ValidationRecord& record, bool best);

/// The lines that a run says of a validation: its losses and scores, and a sample, a different one
/// each `turn`.
std::vector<std::string> validation_text(const ValidationRecord& record, const SampleNames& names,
                                         size_t turn);

}  // namespace heed::train
