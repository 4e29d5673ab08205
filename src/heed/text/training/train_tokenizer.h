#pragma once

#include <string>
#include <vector>

#include "heed/text/tokenizer.h"
#include "heed/tokenizer.h"

namespace heed::text {

/// Learns a tokenizer. Throws Error on options out of range and when there is no text.
Tokenizer train_tokenizer(const std::vector<std::string>& texts,
                          const TrainTokenizerOptions& options);

}  // namespace heed::text
