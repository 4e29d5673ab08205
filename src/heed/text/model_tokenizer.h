#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "heed/text/tokenizer.h"
#include "heed/text/translation_tokenizer.h"

namespace heed::text {

/// The tokenizer of an encoder-decoder. It has a vocabulary file for each side, as translation
/// models have them (Marian's and heed's own), or one tokenizer for both sides (T5, BART).
class ModelTokenizer {
 public:
  explicit ModelTokenizer(TranslationTokenizer two) : tokenizer_(std::move(two)) {}
  explicit ModelTokenizer(Tokenizer one) : tokenizer_(std::move(one)) {}

  /// Token ids with those that the tokenizer puts around a text, such as end of sequence.
  std::vector<int32_t> encode_source(std::string_view text) const;
  std::vector<int32_t> encode_target(std::string_view text) const;
  /// The text of target tokens; special tokens are left out.
  std::string decode_target(std::span<const int32_t> tokens) const;

  /// The piece of a token; empty when the tokenizer has none.
  std::string piece(int32_t token) const;
  /// A single token of a target for display: its text, or its piece if each side has its own
  /// vocabulary.
  std::string readable(int32_t token) const;

  /// What a target token between others adds to the text (Tokenizer::token_bytes).
  std::string token_bytes(int32_t token) const;

  int64_t vocab_size() const;
  /// As Tokenizer::warnings().
  const std::vector<std::string>& warnings() const;
  /// Null when both sides share one tokenizer.
  const TranslationTokenizer* translation_tokenizer() const {
    return std::get_if<TranslationTokenizer>(&tokenizer_);
  }
  /// Null when each side has its own vocabulary.
  const Tokenizer* shared_tokenizer() const { return std::get_if<Tokenizer>(&tokenizer_); }

 private:
  std::variant<Tokenizer, TranslationTokenizer> tokenizer_;
};

}  // namespace heed::text
