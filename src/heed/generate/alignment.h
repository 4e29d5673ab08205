#pragma once

#include <string>
#include <vector>

#include "heed/model/transformer.h"
#include "heed/text/translation_tokenizer.h"

namespace heed::generate {

/// Word `target` of a translation is aligned with word `source`, both counted from 0.
struct AlignedWords {
  int32_t source, target;
};

/// Aligns the words of a translation with those of its source by cross-attention: averages the
/// weights of all heads and layers over one forward pass, joins pieces to words (split at spaces),
/// and aligns each target word with the source word that it attends to most. `source` ends with end
/// of sequence, `target` does not.
std::vector<AlignedWords> align_words(const model::Transformer& model,
                                      const text::TranslationTokenizer& tokenizer,
                                      const std::vector<int32_t>& source,
                                      const std::vector<int32_t>& target);

/// "0-0 1-2 2-1", the Pharaoh format.
std::string pharaoh(const std::vector<AlignedWords>& alignment);

}  // namespace heed::generate
