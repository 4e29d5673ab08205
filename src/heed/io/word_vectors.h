#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace heed::io {

/// Pretrained word vectors (Mikolov et al. 2013).
struct WordVectors {
  int64_t dimension = 0;
  std::unordered_map<std::string, std::vector<float>> rows;
};

/// Reads the vectors of the `wanted` words from a word2vec file. Text: one word and its numbers per
/// line, after an optional header line "count dimension" (GloVe's files have none). Binary: the
/// header line, then word, space and 4-byte floats. The first of several vectors of a word wins.
/// Vectors of other words are only checked for their length. Throws Error, with the line or the
/// number of the word, when the file has neither format, is truncated, or holds a value that is not
/// a finite number.
WordVectors read_word_vectors(const std::filesystem::path& path,
                              const std::unordered_set<std::string>& wanted);

}  // namespace heed::io
