#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/io/marian_files.h"
#include "heed/text/language_tokens.h"
#include "heed/text/translation_pieces.h"

namespace heed::text {

/// The tokenizer of a translation model. Marian's checkpoints (OPUS-MT, heed's own) have source.spm
/// and target.spm, which split text into pieces, and vocab.json with the ids of the pieces of both
/// (and target_vocab.json, where each language has its own). M2M-100 has sentencepiece.bpe.model
/// and vocab.json, mBART and NLLB have tokenizer.json or sentencepiece.bpe.model; these have a
/// token for each language.
class TranslationTokenizer {
 public:
  /// Whether a model directory has Marian's files: those of transformers, or Marian's own.
  static bool exists(const std::filesystem::path& directory);
  /// Whether it has those of mBART, M2M-100 or NLLB, as its configuration says.
  static bool is_multilingual(const std::filesystem::path& directory);
  /// Reads the files of a model directory of either kind. Throws Error on a missing or broken one.
  static TranslationTokenizer load(const std::filesystem::path& directory);
  /// One vocabulary for all languages, numbered as the SentencePiece model numbers it. After its
  /// pieces come tokens of the languages `targets`, which stand before a source, and of `sources`,
  /// which then stand between them and the text; there may be none.
  static TranslationTokenizer shared(const SentencePiece& pieces,
                                     const std::vector<std::string>& targets = {},
                                     const std::vector<std::string>& sources = {});

  /// The token ids of a line, with end of sequence, without languages (but with those of a line
  /// that begins with OPUS-MT's >>code<<).
  std::vector<int32_t> encode_source(std::string_view text) const;
  std::vector<int32_t> encode_target(std::string_view text) const;
  /// With the languages' tokens that a source has. Throws Error, which lists some codes, when a
  /// language is missing or unknown, and when one is given to a model without languages.
  std::vector<int32_t> encode_source(std::string_view text, const LanguagePair& languages) const;
  /// What a model learns to write, with end of sequence and the language's token where the decoder
  /// has it: before the text, or after it where that token is the decoder's first input, as
  /// `transformers` has both. Throws Error likewise.
  std::vector<int32_t> encode_target(std::string_view text, const LanguagePair& languages) const;
  /// The decoder's first tokens for these languages. `start` and `forced` are those of the model's
  /// configuration; -1: none. Throws Error likewise.
  std::vector<int32_t> start_of_target(const LanguagePair& languages, int32_t start,
                                       int32_t forced) const;
  /// Whether a token is end of sequence or a language, so that it belongs to no text.
  bool is_special(int32_t token) const { return token == eos_ || languages_.contains(token); }
  /// Where the tokens of a source begin and end that belong to its text; counted from 0.
  std::pair<size_t, size_t> text_of(std::span<const int32_t> source) const;

  /// The text of target tokens; special tokens are left out.
  std::string decode_target(std::span<const int32_t> tokens) const { return pieces_->text(tokens); }
  /// The piece of a token of a source, or of a target.
  const std::string& source_piece(int32_t token) const { return pieces_->source_piece(token); }
  const std::string& piece(int32_t token) const { return pieces_->target_piece(token); }
  /// What a target token between others adds to the text (Tokenizer::token_bytes).
  std::string token_bytes(int32_t token) const { return pieces_->target_bytes(token); }

  int64_t source_vocab_size() const { return pieces_->source_size(); }
  int64_t vocab_size() const { return pieces_->target_size(); }
  const LanguageTokens& languages() const { return languages_; }

  /// The files, name and contents, to be saved with a model.
  using Files = std::vector<std::pair<std::string, std::string>>;
  Files files() const { return *files_; }
  /// As Tokenizer::warnings().
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  TranslationTokenizer(std::shared_ptr<const TranslationPieces> pieces, int32_t eos,
                       LanguageTokens languages, Files files);
  static TranslationTokenizer load_marian(const std::filesystem::path& directory);
  static TranslationTokenizer load_native(const std::filesystem::path& directory,
                                          const io::MarianFiles& files);
  static TranslationTokenizer load_multilingual(const std::filesystem::path& directory);
  /// What a source begins with: >>code<< and the rest.
  std::pair<std::string_view, std::string_view> split_language(std::string_view text) const;

  std::shared_ptr<const TranslationPieces> pieces_;
  std::shared_ptr<const Files> files_;
  int32_t eos_ = 0;
  LanguageTokens languages_;
  std::vector<std::string> warnings_;
};

}  // namespace heed::text
