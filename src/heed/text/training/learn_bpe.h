#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heed::text {

/// How often each word of a text occurs.
using WordCounts = std::unordered_map<std::string, int64_t>;

/// What learn_bpe() learned: pieces by their ids, and pairs of ids in the order of their ranks.
struct LearnedBpe {
  std::vector<std::string> pieces;
  std::vector<std::pair<int32_t, int32_t>> merges;
};

/// Byte-pair encoding (Sennrich et al., 2016): repeatedly joins the most frequent pair of adjacent
/// pieces, among equally frequent ones the pair with the lowest ids, until there are `vocab_size`
/// pieces or no pair occurs `min_frequency` times. Merges and ids are those of the BpeTrainer of
/// Python's `tokenizers`. `first` are the pieces with the first ids, among them every code point of
/// the words; others are left out.
LearnedBpe learn_bpe(const WordCounts& words, std::vector<std::string> first, int64_t vocab_size,
                     int64_t min_frequency);

}  // namespace heed::text
