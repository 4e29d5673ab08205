#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/tokenizer.h"
#include "heed/text/translation_tokenizer.h"
#include "heed/train/tasks/vocabulary.h"

namespace heed::train {

/// How the sides of a sentence pair become tokens, with end of sequence, and a target's tokens text
/// again.
class PairTokenizer {
 public:
  virtual ~PairTokenizer() = default;

  virtual std::vector<int32_t> encode_source(std::string_view text) const = 0;
  virtual std::vector<int32_t> encode_target(std::string_view text) const = 0;
  virtual std::string decode_target(std::span<const int32_t> tokens) const = 0;
  virtual std::string piece(int32_t token) const = 0;
  virtual std::vector<checkpoint::NamedFile> files() const = 0;
};

/// Marian's: source.spm, target.spm, vocab.json.
class MarianPairs : public PairTokenizer {
 public:
  explicit MarianPairs(text::TranslationTokenizer tokenizer) : tokenizer_(std::move(tokenizer)) {}

  const text::TranslationTokenizer& tokenizer() const { return tokenizer_; }

  std::vector<int32_t> encode_source(std::string_view text) const override {
    return tokenizer_.encode_source(text);
  }
  std::vector<int32_t> encode_target(std::string_view text) const override {
    return tokenizer_.encode_target(text);
  }
  std::string decode_target(std::span<const int32_t> tokens) const override {
    return tokenizer_.decode_target(tokens);
  }
  std::string piece(int32_t token) const override {
    return token < tokenizer_.vocab_size() ? tokenizer_.piece(token) : "";
  }
  std::vector<checkpoint::NamedFile> files() const override { return tokenizer_.files(); }

 private:
  text::TranslationTokenizer tokenizer_;
};

/// One tokenizer for both sides (T5, BART), with whatever it puts around a text.
class SharedPairs : public PairTokenizer {
 public:
  explicit SharedPairs(NamedTokenizer named) : named_(std::move(named)) {}

  std::vector<int32_t> encode_source(std::string_view text) const override {
    return named_.tokenizer.encode(text);
  }
  std::vector<int32_t> encode_target(std::string_view text) const override {
    return named_.tokenizer.encode(text);
  }
  std::string decode_target(std::span<const int32_t> tokens) const override {
    return named_.tokenizer.decode(tokens);
  }
  std::string piece(int32_t token) const override { return piece_of(named_.tokenizer, token); }
  std::vector<checkpoint::NamedFile> files() const override { return named_.files; }

 private:
  NamedTokenizer named_;
};

}  // namespace heed::train
