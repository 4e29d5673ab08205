#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "heed/text/models/tokenizer_model.h"
#include "heed/text/normalizers/normalizer.h"
#include "heed/text/piece_automaton.h"
#include "heed/text/pre_tokenizers/pre_tokenizer.h"

namespace heed::text {

/// A piece that is found in a text before the model sees it, such as <s> or [MASK].
struct AddedToken {
  std::string content;
  bool single_word = false;  // matches only where no word character is beside it
  bool strip_left = false;   // the match includes the white space before it
  bool strip_right = false;  // the match includes the white space after it
  bool normalized = false;   // found in the normalised text, in its own normalised form
  bool special = false;      // Tokenizer::decode(skip_special) leaves it out

  bool operator==(const AddedToken&) const = default;
};

/// The parts of a text that come from people or other programs, and the added tokens that must not
/// be recognised there, because they would take on the role of the program that wrote the rest.
struct UntrustedParts {
  std::span<const TextSpan> spans;  // in bytes, ascending
  const std::unordered_set<int32_t>& control_tokens;
};

/// The added tokens of a tokenizer. Immutable.
class AddedTokens {
 public:
  /// A token that the vocabulary has keeps its id there; the others get the ids after the
  /// vocabulary, in their order.
  /// With `split_special`, special ones are not found in a text.
  AddedTokens(const std::vector<AddedToken>& tokens, const TokenizerModel& model,
              const Normalizer* normalizer, bool split_special = false);

  /// Splits a text at the tokens found in it and normalises the rest (`normalizer` may be null).
  /// A control token of which any byte is untrusted stays text. Throws Error when normalising makes
  /// the text too long.
  TextPieces split(std::string_view text, const Normalizer* normalizer,
                   const UntrustedParts* untrusted = nullptr) const;

  /// The same of valid UTF-8, and its pieces have alignments; a token has the text that it was
  /// found as, with the white space that belongs to it.
  TextPieces split_aligned(std::string_view text, const Normalizer* normalizer) const;

  std::optional<int32_t> find(std::string_view content) const;
  /// The ids of all added tokens, ascending.
  std::vector<int32_t> ids() const;
  /// nullptr when no added token has this id.
  const std::string* piece(int32_t id) const;
  /// The same in its normalised form, which is what a decoder gets.
  const std::string* decoded_piece(int32_t id) const;
  bool is_special(std::string_view piece) const;
  /// The highest id plus one.
  int32_t end() const { return end_; }

 private:
  struct Entry {
    AddedToken token;
    std::string pattern;  // the text that is searched for
  };
  /// A token in a text.
  struct Match {
    TextSpan span;
    int32_t id;
  };

  /// Whether a match is a token, given its bytes and its id.
  using Accepts = std::function<bool(TextSpan span, int32_t id)>;

  PieceAutomaton backward_patterns(bool normalized, bool split_special) const;
  /// The accepted matches from left to right. Of overlapping ones the leftmost wins; of those that
  /// begin at the same byte, the longest.
  static std::vector<Match> find_matches(const PieceAutomaton& backward, std::string_view text,
                                         const Accepts& accepts);
  void split_at(const PieceAutomaton& backward, NormalizedText&& text, const Accepts& accepts,
                TextPieces& parts) const;
  /// Splits one part of a text; `accepts` judges the tokens that are found before normalisation,
  /// `accepts_normalized` those found after it.
  void split_part(NormalizedText&& text, const Normalizer* normalizer, size_t& room,
                  const Accepts& accepts, const Accepts& accepts_normalized,
                  TextPieces& parts) const;
  /// The untrusted spans that hold a control token, or a part of one, in their normalised form.
  std::vector<TextSpan> spans_to_isolate(std::string_view text, const Normalizer* normalizer,
                                         const UntrustedParts& untrusted) const;

  std::unordered_map<int32_t, Entry> entries_;
  std::unordered_map<std::string, int32_t> ids_;
  std::unordered_set<std::string> special_;
  int32_t end_ = 0;
  // PieceAutomaton::backward() of the patterns.
  std::unique_ptr<PieceAutomaton> plain_, normalized_;
};

}  // namespace heed::text
