#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "heed/text/models/piece_trie.h"
#include "heed/text/normalizers/normalizer.h"
#include "heed/text/pre_tokenizers/pre_tokenizer.h"
#include "heed/text/vocabulary.h"

namespace heed::text {

/// A piece that is found in a text before the model sees it, such as <s> or [MASK].
struct AddedToken {
  std::string content;
  bool single_word = false;  // only where no word character is beside it
  bool strip_left = false;   // takes the white space before it
  bool strip_right = false;  // and after it
  bool normalized = false;   // found in the normalised text, in its own normalised form
  bool special = false;      // left out when decoding, if asked for
};

/// All of them. Immutable.
class AddedTokens {
 public:
  /// Numbers them: one that the vocabulary has keeps its number, others follow it.
  AddedTokens(const std::vector<AddedToken>& tokens, const Vocabulary& vocabulary,
              const Normalizer* normalizer);

  /// Cuts a text at the tokens found in it and normalises the rest (`normalizer` may be null).
  TextPieces cut(std::string_view text, const Normalizer* normalizer) const;

  std::optional<int32_t> find(std::string_view content) const;
  /// nullptr for a number that is none of theirs.
  const std::string* piece(int32_t id) const;
  /// The same, as a decoder wants it: in its normalised form.
  const std::string* decoded_piece(int32_t id) const;
  bool is_special(std::string_view piece) const;
  /// The highest number plus one.
  int32_t end() const { return end_; }

 private:
  struct Entry {
    AddedToken token;
    std::string pattern;  // what is looked for
  };
  struct Patterns {
    Vocabulary vocabulary;
    std::unique_ptr<PieceTrie> trie;
  };

  void build(Patterns& patterns, bool normalized);
  void cut_at(const Patterns& patterns, NormalizedText&& text, TextPieces& parts) const;

  std::unordered_map<int32_t, Entry> entries_;
  std::unordered_map<std::string, int32_t> ids_;
  std::unordered_set<std::string> special_;
  int32_t end_ = 0;
  Patterns plain_, normalized_;
};

}  // namespace heed::text
