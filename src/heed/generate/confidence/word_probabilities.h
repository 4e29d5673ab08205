#pragma once

#include <string>
#include <vector>

#include "heed/metrics/kept_words.h"
#include "heed/search.h"
#include "heed/text/translation_tokenizer.h"

namespace heed::generate {

/// What a model says of the words of its translation while it searches.
struct WordProbabilities {
  std::vector<metrics::WordRange> words;  // of the text
  /// The probability of each word, as a natural logarithm: the sum of those of its tokens. A token
  /// of several words counts for each.
  std::vector<double> log_probabilities;
  double mean_token_log_probability = 0;  // of all tokens; 0 without any
};

/// Throws Error when the hypothesis has no token_log_probabilities.
WordProbabilities word_probabilities(const text::TranslationTokenizer& tokenizer,
                                     const std::string& text, const Hypothesis& hypothesis);

}  // namespace heed::generate
