#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace heed::io {

/// Vectors of words, learned elsewhere (Mikolov et al. 2013).
struct WordVectors {
  int64_t dimension = 0;
  std::unordered_map<std::string, std::vector<float>> rows;
};

/// Reads the vectors of the `wanted` words from a word2vec file: text (a word and its numbers a
/// line, a first line "count dimension" or none, as in GloVe's files) or binary (that line, then
/// word, space and 4-byte floats). Of two vectors of one word the first counts; the numbers of
/// words that are not wanted are counted, not read. Throws Error, with the line or the word's
/// number, on a file that is neither, is cut, or holds what is no number.
WordVectors read_word_vectors(const std::filesystem::path& path,
                              const std::unordered_set<std::string>& wanted);

}  // namespace heed::io
