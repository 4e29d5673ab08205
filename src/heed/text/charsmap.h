#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heed::text {

/// Whether all indices of the table are inside it, and its keys and replacements are within the
/// limits of base/reader_limits.h. The SentencePiece library walks it unchecked.
bool is_valid_charsmap(std::string_view map);

/// The normalisation table of a SentencePiece model: a double-array trie (Aoe 1989) as darts-clone
/// lays it out, and the replacements of its keys.
class Charsmap {
 public:
  /// Throws Error that names the file `name` unless the table is valid and its texts are valid
  /// UTF-8.
  Charsmap(std::string bytes, const std::string& name);

  /// A key that a text begins with, and what replaces it.
  struct Match {
    size_t size = 0;  // of the key, in bytes
    std::string_view replacement;
  };
  std::optional<Match> shortest(std::string_view text) const { return match(text, false); }
  std::optional<Match> longest(std::string_view text) const { return match(text, true); }

 private:
  std::optional<Match> match(std::string_view text, bool longest) const;

  std::string bytes_;
  std::string_view trie() const;
  std::string_view replacements() const;
};

}  // namespace heed::text
