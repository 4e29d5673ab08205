#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "heed/train/observer.h"

namespace heed::train {

/// "perplexity 12.34, BLEU 23.45, chrF 45.67 (best)".
std::string scores_text(const ValidationRecord& record, bool best);

/// The lines to show for a validation: losses, scores, and sample `turn` modulo their number.
std::vector<std::string> validation_text(const ValidationRecord& record, const SampleNames& names,
                                         size_t turn);

}  // namespace heed::train
