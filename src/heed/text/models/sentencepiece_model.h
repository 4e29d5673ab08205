#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/files/sentencepiece_proto.h"
#include "heed/text/models/tokenizer_model.h"
#include "heed/text/piece_automaton.h"

namespace heed::text {

/// A text and the number of its piece.
struct SentencePiecePart {
  std::string_view text;
  int32_t id;
};

/// The segmentation of the SentencePiece library, to the same pieces, in time proportional to the
/// text (times its logarithm for BPE). The library itself takes the square of a run of unknown
/// characters, and its time grows with the longest piece. Can be interrupted.
class SentencePieceModel : public TokenizerModel {
 public:
  explicit SentencePieceModel(const SentencePieceProto& proto);

  /// Of text that the model's normaliser returned. Adjacent unknown parts are one, unless byte
  /// pieces stand for them.
  std::vector<SentencePiecePart> parts_of(std::string_view normalized) const;
  void tokenize(std::string_view word, std::vector<int32_t>& ids) const override;
  bool joins_bytes() const override { return unigram_; }
  bool is_unknown(int32_t id) const { return id == unknown_; }
  bool byte_fallback() const { return byte_fallback_; }

 protected:
  /// The parts before unknown ones are joined.
  virtual std::vector<SentencePiecePart> segment(std::string_view normalized) const = 0;
  /// The number of a piece that is no control piece, or else that of the unknown piece.
  int32_t number_of(std::string_view piece) const;
  /// The number of a piece that stands for text; -1 if it is none.
  int32_t text_piece(std::string_view piece) const { return texts_.find(piece).value_or(-1); }
  int32_t unknown() const { return unknown_; }

 private:
  Vocabulary texts_;
  int32_t unknown_ = -1;
  bool byte_fallback_, unigram_;
  std::vector<bool> is_control_;  // by id
};

/// Throws Error, which names the file `name`, on a model that the library refuses: with two pieces
/// of the same text, or without an unknown piece.
std::unique_ptr<SentencePieceModel> make_sentencepiece_model(const SentencePieceProto& proto,
                                                             const std::string& name);

/// PieceAutomaton::backward() of the user-defined pieces, which are never split and which
/// normalisation does not change.
PieceAutomaton user_defined_pieces(const SentencePieceProto& proto);

/// For each byte of a text the longest piece that begins there.
class LongestPieces {
 public:
  /// `backward`: see PieceAutomaton::backward().
  LongestPieces(const PieceAutomaton& backward, std::string_view text);
  /// Its bytes; 0 if none begins there.
  size_t size_at(size_t begin) const { return sizes_.empty() ? 0 : sizes_[begin]; }

 private:
  std::vector<uint32_t> sizes_;  // empty if there are no pieces
};

}  // namespace heed::text
