#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/vocabulary.h"

namespace heed::text {

/// Cuts words into the pieces of its vocabulary. Immutable.
class TokenizerModel {
 public:
  explicit TokenizerModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  virtual ~TokenizerModel() = default;

  const Vocabulary& vocabulary() const { return vocabulary_; }

  /// Appends the numbers of the pieces of `word`, which is valid UTF-8. Throws Error when a piece
  /// for what is unknown is needed and there is none.
  virtual void tokenize(std::string_view word, std::vector<int32_t>& ids) const = 0;

 private:
  Vocabulary vocabulary_;
};

/// What "model" of a tokenizer.json describes; `file` is what errors call it. Throws Error on a
/// type that is not known, and on missing or wrong members.
std::unique_ptr<TokenizerModel> read_model(const nlohmann::json& json, const std::string& file);

/// Byte-pair encoding (Sennrich et al., 2016).
struct BpeOptions {
  std::optional<std::string> unknown;  // the piece of what is not in the vocabulary
  std::string continuing_prefix;       // of every letter of a word but the first
  std::string end_suffix;              // of the last letter of a word
  bool fuse_unknown = false;           // unknown letters that follow each other are one piece
  bool byte_fallback = false;          // an unknown letter becomes pieces like <0xE5>
  bool ignore_merges = false;          // a word that is a piece is not cut
};
/// Two pieces that become one. Lower ranks go first, and of equal ones the leftmost.
struct BpeMerge {
  int32_t left, right, rank, result;
};
std::unique_ptr<TokenizerModel> make_bpe(Vocabulary vocabulary, const std::vector<BpeMerge>& merges,
                                         const BpeOptions& options);
/// Two pieces, which point into the text or the file that they were read from.
using PiecePair = std::pair<std::string_view, std::string_view>;
/// From pairs of pieces, the first of which is merged first.
std::vector<BpeMerge> merges_of_pairs(const Vocabulary& vocabulary,
                                      const std::vector<PiecePair>& pairs,
                                      const BpeOptions& options, const std::string& file);
/// The same from lines that read_merge() takes.
std::vector<BpeMerge> merges_of_lines(const Vocabulary& vocabulary,
                                      const std::vector<std::string_view>& lines,
                                      const BpeOptions& options, const std::string& file);
/// SentencePiece's rule: any two pieces whose text together is a piece, the best score first. No
/// two become a piece without a score; all scores are finite.
std::vector<BpeMerge> merges_of_scores(const Vocabulary& vocabulary,
                                       const std::vector<std::optional<float>>& scores);
/// Two pieces with a space between; `where` begins the text of errors.
PiecePair read_merge(std::string_view line, const std::string& where);
/// The pairs of a merges.txt, one a line.
std::vector<PiecePair> read_merges_text(std::string_view text, const std::string& file);

/// Greedy: the longest piece that a word begins with, and so on (Wu et al., 2016).
struct WordPieceOptions {
  std::string unknown = "[UNK]", continuing_prefix = "##";
  int64_t longest_word = 100;  // code points; longer words are unknown
};
std::unique_ptr<TokenizerModel> make_word_piece(Vocabulary vocabulary,
                                                const WordPieceOptions& options);

/// The likeliest pieces under a unigram language model (Kudo, 2018).
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

/// The piece <0xE5> of a byte.
std::string byte_piece(uint8_t byte);

/// The numbers of the pieces <0x..> of all bytes of `text`, or nothing if one is missing.
std::optional<std::vector<int32_t>> byte_pieces(const Vocabulary& vocabulary,
                                                std::string_view text);

/// The member "vocab" of a model.
Vocabulary read_vocabulary(const nlohmann::json& model, const std::string& file);

}  // namespace heed::text
