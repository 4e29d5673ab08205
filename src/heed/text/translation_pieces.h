#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/sentencepiece.h"
#include "heed/text/tokenizer.h"

namespace heed::text {

/// How a translation model splits text into tokens, without those that stand around it. Immutable.
class TranslationPieces {
 public:
  virtual ~TranslationPieces() = default;
  virtual std::vector<int32_t> source(std::string_view text) const = 0;
  virtual std::vector<int32_t> target(std::string_view text) const = 0;
  /// The text of target tokens; special tokens and those without a piece are left out. Throws Error
  /// on negative ones.
  virtual std::string text(std::span<const int32_t> target) const = 0;
  /// The piece of a token. Throws Error when there is none.
  virtual const std::string& source_piece(int32_t token) const = 0;
  virtual const std::string& target_piece(int32_t token) const = 0;
  /// What a target token between others adds to the text. Throws Error when there is none.
  virtual std::string target_bytes(int32_t token) const = 0;
  virtual int64_t source_size() const = 0;
  virtual int64_t target_size() const = 0;
};

/// A vocabulary of tokens: their pieces by number.
using PieceNames = std::vector<std::string>;
/// Reads vocab.json, an object that gives each of n pieces an id below n. Throws Error, which names
/// the `file`, on anything else.
PieceNames read_piece_names(const std::string& contents, const std::string& file);

/// Two SentencePiece models, whose pieces get their numbers from vocabularies; those that these
/// lack are <unk>. `target_names` may be the same as `source_names`. Throws Error when a vocabulary
/// has no </s> or no <unk>.
std::shared_ptr<const TranslationPieces> sentencepiece_pairs(
    const SentencePiece& source, const SentencePiece& target,
    std::shared_ptr<const PieceNames> source_names, std::shared_ptr<const PieceNames> target_names);

std::shared_ptr<const TranslationPieces> tokenizer_pieces(Tokenizer tokenizer);

}  // namespace heed::text
