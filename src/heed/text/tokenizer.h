#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/text/added_tokens.h"
#include "heed/text/decoders/decoder.h"
#include "heed/text/models/tokenizer_model.h"
#include "heed/text/normalizers/normalizer.h"
#include "heed/text/post_processors/post_processor.h"
#include "heed/text/pre_tokenizers/pre_tokenizer.h"

namespace heed::text {

/// What a tokenizer is made of, in the order in which a text passes through. Normaliser,
/// pre-tokenizer and decoder may be null.
struct TokenizerParts {
  std::vector<AddedToken> added_tokens;
  std::unique_ptr<Normalizer> normalizer;
  std::unique_ptr<PreTokenizer> pre_tokenizer;
  std::unique_ptr<TokenizerModel> model;
  PostProcessor post_processor;
  std::unique_ptr<Decoder> decoder;
};

/// The special tokens by their role; those that a tokenizer lacks are missing.
struct SpecialTokens {
  std::optional<int32_t> bos, eos, pad, unk, mask, sep, cls;
};

/// The same as pieces, where a configuration names them.
struct SpecialTokenNames {
  std::optional<std::string> bos, eos, pad, unk, mask, sep, cls;
};

/// Text to numbered pieces and back, with the same numbers as Python's `tokenizers`. Immutable;
/// copies share everything and any number of threads may use one at once.
///
/// Truncation and padding that a tokenizer.json asks for are left to the caller, as `transformers`
/// does.
class Tokenizer {
 public:
  /// Reads the tokenizer of a model directory: tokenizer.json, or else vocab.json with merges.txt,
  /// or else a SentencePiece model (tokenizer.model, spiece.model, sentencepiece.bpe.model), or
  /// else vocab.txt; with tokenizer_config.json, special_tokens_map.json, added_tokens.json and
  /// config.json where they are. Throws Error when there is none or when one is broken.
  static Tokenizer load(const std::filesystem::path& model_directory);
  /// Reads the contents of a tokenizer.json; `file` is what errors call it.
  static Tokenizer from_json(const nlohmann::json& json, const std::string& file);
  /// From its parts. `names` are special tokens; the usual ones of a role without a name ("<s>",
  /// "[MASK]") are looked for. `files` are what files() gives.
  using Files = std::vector<std::pair<std::string, std::string>>;
  static Tokenizer from_parts(TokenizerParts parts, const SpecialTokenNames& names,
                              Files files = {});
  /// The same with files that are written when they are first asked for.
  static Tokenizer from_parts(TokenizerParts parts, const SpecialTokenNames& names,
                              std::function<Files()> write_files);

  /// The numbers of the pieces of a text, with what the post-processor adds ([CLS] .. [SEP], <s>)
  /// if `special`. Special tokens that stand in the text are recognised. Any bytes may be given:
  /// malformed UTF-8 is read as with_replacements() does. Throws Error on an unknown character when
  /// the vocabulary has no piece for such.
  std::vector<int32_t> encode(std::string_view text, bool special = true) const;
  /// The text of pieces, valid UTF-8. Numbers without a piece (models have more rows than pieces)
  /// are left out, and special tokens if `skip_special`.
  std::string decode(std::span<const int32_t> ids, bool skip_special = true) const;

  /// Throws Error on a number without a piece.
  const std::string& piece(int32_t id) const;
  std::optional<int32_t> id_of(std::string_view piece) const;
  /// The highest number plus one.
  int64_t vocab_size() const;
  const SpecialTokens& special_tokens() const;
  bool is_special(int32_t id) const;

  /// The files again, name and contents, to be saved beside weights.
  const Files& files() const;

 private:
  struct Pipeline;
  explicit Tokenizer(std::shared_ptr<const Pipeline> pipeline);

  std::shared_ptr<const Pipeline> pipeline_;
};

/// What a tokenizer.json describes, without special tokens by their role.
TokenizerParts read_tokenizer_parts(const nlohmann::json& json, const std::string& file);

/// The text of a growing list of pieces, as soon as it is certain. All that feed() and finish()
/// give, joined, is what decode() makes of all numbers; only where a byte-fallback tokenizer's
/// bytes turn out to be no UTF-8 does it differ, in what U+FFFD stand for.
class DecodeStream {
 public:
  explicit DecodeStream(Tokenizer tokenizer, bool skip_special = true)
      : tokenizer_(std::move(tokenizer)), skip_special_(skip_special) {}

  /// What is certain now: whole code points, often nothing.
  std::string feed(int32_t id);
  /// What is left.
  std::string finish();

 private:
  std::string advance(bool last);

  Tokenizer tokenizer_;
  bool skip_special_;
  std::vector<int32_t> ids_;  // those whose text is given already, as context, then the new ones
  size_t context_ = 0, waiting_ = 0;
  std::string given_;  // of the text of ids_
};

}  // namespace heed::text
