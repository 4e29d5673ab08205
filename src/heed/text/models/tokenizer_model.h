#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/vocabulary.h"

namespace heed::text {

/// Splits words into the pieces of its vocabulary. Immutable.
class TokenizerModel {
 public:
  explicit TokenizerModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  virtual ~TokenizerModel() = default;

  const Vocabulary& vocabulary() const { return vocabulary_; }

  /// Appends the ids of the pieces of `word`, which is valid UTF-8. Throws Error when an unknown
  /// piece is needed and the vocabulary has none.
  virtual void tokenize(std::string_view word, std::vector<int32_t>& ids) const = 0;
  /// The characters of a word that a piece, the first of the word or a later one, stands for.
  virtual std::string_view text_of(std::string_view piece, bool first) const;
  /// The id of the first token that is added to the vocabulary.
  virtual int32_t next_id() const { return vocabulary().count(); }
  /// Whether byte pieces are found in a text that spells their names, such as <0x41>.
  virtual bool spells_bytes() const { return false; }
  /// Whether `tokenizers` gives each of successive byte pieces the place of all of them.
  virtual bool joins_bytes() const { return false; }

 private:
  Vocabulary vocabulary_;
};

/// What "model" of a tokenizer.json describes; `file` is its name in messages. Throws Error on an
/// unknown type, and on missing or wrong members.
std::unique_ptr<TokenizerModel> read_model(const nlohmann::json& json, const std::string& file);

/// Byte-pair encoding (Sennrich et al., 2016).
struct BpeOptions {
  std::optional<std::string> unknown;  // the piece for characters outside the vocabulary
  std::string continuing_prefix;       // put before every character of a word but the first
  std::string end_suffix;              // put after the last character of a word
  bool fuse_unknown = false;           // adjacent unknown characters become one piece
  bool byte_fallback = false;          // an unknown character becomes pieces like <0xE5>
  bool ignore_merges = false;          // a word that is a piece stays whole
};
/// Two pieces that become one. The merge with the lowest rank is applied first; among equal ranks
/// the leftmost.
struct BpeMerge {
  int32_t left, right, rank, result;
};
std::unique_ptr<TokenizerModel> make_bpe(Vocabulary vocabulary, const std::vector<BpeMerge>& merges,
                                         const BpeOptions& options);
/// Two pieces; views of the text or the file that they were read from.
using PiecePair = std::pair<std::string_view, std::string_view>;
/// The merges of pairs of pieces; the rank is the position.
std::vector<BpeMerge> merges_of_pairs(const Vocabulary& vocabulary,
                                      const std::vector<PiecePair>& pairs,
                                      const BpeOptions& options, const std::string& file);
/// The same from lines that read_merge() takes.
std::vector<BpeMerge> merges_of_lines(const Vocabulary& vocabulary,
                                      const std::vector<std::string_view>& lines,
                                      const BpeOptions& options, const std::string& file);
/// SentencePiece's rule: two pieces merge when their concatenation is a piece with a score; the
/// rank is that of the score, the highest first. Scores are finite, `scores[id]` is none for pieces
/// that no merge makes.
std::vector<BpeMerge> merges_of_scores(const Vocabulary& vocabulary,
                                       const std::vector<std::optional<float>>& scores);
/// Reads two pieces separated by a space; messages begin with `where`.
PiecePair read_merge(std::string_view line, const std::string& where);
/// The pairs of "merges" of a tokenizer.json, of either of its forms.
std::vector<PiecePair> read_merges_json(const nlohmann::json& merges, const std::string& file);
/// The pairs of a merges.txt, one a line.
std::vector<PiecePair> read_merges_text(std::string_view text, const std::string& file);

/// Greedy longest match from the left (Wu et al., 2016).
struct WordPieceOptions {
  std::string unknown = "[UNK]", continuing_prefix = "##";
  int64_t longest_word = 100;  // code points; longer words are unknown
};
std::unique_ptr<TokenizerModel> make_word_piece(Vocabulary vocabulary,
                                                const WordPieceOptions& options);

/// The most probable segmentation under a unigram language model (Kudo, 2018).
struct UnigramOptions {
  std::optional<int32_t> unknown;
  bool byte_fallback = false;
};
std::unique_ptr<TokenizerModel> make_unigram(
    const std::vector<std::pair<std::string, double>>& pieces, const UnigramOptions& options,
    const std::string& file);

// The readers of the types.
std::unique_ptr<TokenizerModel> read_bpe(const nlohmann::json& json, const std::string& file);
std::unique_ptr<TokenizerModel> read_word_piece(const nlohmann::json& json,
                                                const std::string& file);
std::unique_ptr<TokenizerModel> read_unigram(const nlohmann::json& json, const std::string& file);

/// `piece` without `prefix` unless it is the first of a word.
std::string_view without_prefix(std::string_view piece, const std::string& prefix, bool first);

/// The piece <0xE5> of a byte.
std::string byte_piece(uint8_t byte);

/// The ids of the pieces <0x..> of all bytes of `text`, or nothing if one is missing.
std::optional<std::vector<int32_t>> byte_pieces(const Vocabulary& vocabulary,
                                                std::string_view text);

/// The member "vocab" of a model.
Vocabulary read_vocabulary(const nlohmann::json& model, const std::string& file);

}  // namespace heed::text
