#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/text/sentencepiece.h"

namespace heed::text {

/// The tokenizer files of a translation model as Marian's checkpoints have them: source.spm and
/// target.spm split text into pieces, vocab.json gives the ids of the pieces of both.
class TranslationTokenizer {
 public:
  /// Whether a model directory has such files.
  static bool exists(const std::filesystem::path& directory);
  /// Reads the three files of a model directory. Throws Error on a missing or broken one.
  static TranslationTokenizer load(const std::filesystem::path& directory);
  /// One vocabulary for both languages, numbered as the SentencePiece model numbers it.
  static TranslationTokenizer shared(const SentencePiece& pieces);

  /// The token ids of a line, with end of sequence.
  std::vector<int32_t> encode_source(std::string_view text) const;
  std::vector<int32_t> encode_target(std::string_view text) const;
  /// The text of target tokens; special tokens are left out.
  std::string decode_target(std::span<const int32_t> tokens) const;
  /// The piece of a token.
  const std::string& piece(int32_t token) const;

  int64_t vocab_size() const { return static_cast<int64_t>(pieces_.size()); }

  /// The files, name and contents, to be saved with a model.
  std::vector<std::pair<std::string, std::string>> files() const;

 private:
  TranslationTokenizer(SentencePiece source, SentencePiece target, std::vector<std::string> pieces);

  SentencePiece source_, target_;
  std::vector<std::string> pieces_;       // by token id
  std::vector<int32_t> source_to_token_;  // SentencePiece's ids to ours
  std::vector<int32_t> target_to_token_;
  std::vector<int32_t> token_to_target_;  // -1: not a piece of the target
  int32_t eos_ = 0, unknown_ = 0;
};

}  // namespace heed::text
