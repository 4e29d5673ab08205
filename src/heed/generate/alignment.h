#pragma once

#include <string>
#include <vector>

#include "heed/model/transformer.h"
#include "heed/search.h"
#include "heed/text/translation_tokenizer.h"

namespace heed::generate {

using heed::AlignedWords;

/// Aligns each word of a translation with the source word that it attends to most: the mean of the
/// cross-attention weights of all heads and layers, summed over the pieces of each word. Words are
/// separated by spaces. `source` has end of sequence, `target` does not; `prompt` is the first
/// input of the decoder.
std::vector<AlignedWords> align_words(const model::Transformer& model,
                                      const text::TranslationTokenizer& tokenizer,
                                      const std::vector<int32_t>& source,
                                      const std::vector<int32_t>& prompt,
                                      const std::vector<int32_t>& target);

/// The alignment in Pharaoh format: "0-0 1-2 2-1", source word first.
std::string pharaoh(const std::vector<AlignedWords>& alignment);

}  // namespace heed::generate
