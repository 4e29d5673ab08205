#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/constrain/mask_table.h"
#include "heed/constrain/shortest_text.h"

namespace heed::constrain {

/// The tokens of a vocabulary that may follow in a recognizer and do not lead where no tokens spell
/// what must follow: where a byte that is required belongs to longer tokens alone. Most
/// vocabularies have each byte as a token, and then there are no such places.
///
/// Functions throw Error as those of Recognizer and Expressions that make states.
class TokenMasks {
 public:
  /// Throws Error, naming what is missing, if the vocabulary cannot spell any text.
  TokenMasks(Recognizer& recognizer, TextCover& cover,
             std::shared_ptr<const Vocabulary> vocabulary);

  const Vocabulary& vocabulary() const { return table_.vocabulary(); }
  /// See Matcher::mask(); without end tokens.
  void mask(uint32_t state, std::span<uint64_t> bits);
  /// Whether tokens lead from a state to an end. True also where finding out would take too long.
  bool can_end(uint32_t state);

 private:
  bool has_known_end(uint32_t state);
  std::string_view unspelled_rest(std::string_view text) const;
  bool search_end(uint32_t state);
  std::vector<uint32_t> next_states(uint32_t state, size_t& tokens);
  uint32_t state_after(uint32_t state, std::string_view bytes);
  std::string unspelled(uint32_t state);

  Recognizer& recognizer_;
  MaskTable table_;
  // Only if a byte of the grammar is no token alone.
  std::optional<ShortestText> shortest_;
  std::unordered_map<uint32_t, bool> ends_;                      // by state, as far as it is known
  std::unordered_map<uint32_t, std::vector<uint32_t>> removed_;  // tokens, by state
};

}  // namespace heed::constrain
