#pragma once

#include <cstdint>
#include <vector>

#include "heed/generate/search.h"
#include "heed/search.h"
#include "heed/text/translation_tokenizer.h"

namespace heed::generate {

using heed::AlignedWords;

/// Aligns each word of a translation with the source word that it attends to most: the
/// cross-attention weights of all heads and layers, summed over the pieces of each word. Words are
/// separated by spaces. `source` is the input of the encoder. Throws Error when a token of the
/// translation has no cross-attention.
std::vector<AlignedWords> align_words(const text::TranslationTokenizer& tokenizer,
                                      const std::vector<int32_t>& source,
                                      const SearchResult& translation);

}  // namespace heed::generate
