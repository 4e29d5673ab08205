#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace heed::data {

/// A token or word of a sentence and the one of its translation that it belongs to, by their
/// indices.
struct Link {
  int32_t source, target;
  bool operator==(const Link&) const = default;
};

/// Reads "0-0 1-2 2-1", the format of Pharaoh and Moses: words are counted from 0. Throws Error on
/// anything else.
std::vector<Link> parse_pharaoh(std::string_view text);

/// The number of each token's word, where the first token begins a word and so does every one whose
/// piece begins with SentencePiece's space.
template <typename PieceOf>
std::vector<int32_t> word_numbers(const std::vector<int32_t>& tokens, const PieceOf& piece_of) {
  constexpr std::string_view kSpace = "\u2581";
  std::vector<int32_t> words;
  int32_t word = -1;
  for (const int32_t token : tokens) {
    if (word < 0 || std::string_view(piece_of(token)).starts_with(kSpace)) ++word;
    words.push_back(word);
  }
  return words;
}

/// Links between all tokens of linked words, in the order of the target. The words of the tokens
/// are those of word_numbers(), or -1 for a token of no word. Words that do not exist are ignored.
std::vector<Link> token_links(const std::vector<Link>& words, const std::vector<int32_t>& source,
                              const std::vector<int32_t>& target);

}  // namespace heed::data
