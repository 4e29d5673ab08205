#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
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
#include "heed/tokenizer.h"

namespace heed::text {

/// The tokens by which a model that was trained to fill in the middle of a text (Bavarian et al.
/// 2022) knows the parts. A tokenizer has the first three, or none of them.
struct FillInMiddleTokens {
  std::optional<int32_t> prefix, suffix, middle;  // before each part
  std::optional<int32_t> repository, file;        // before the name of one
};

/// The parts of a tokenizer in the order in which a text passes through them. Normaliser,
/// pre-tokenizer and decoder may be null.
struct TokenizerParts {
  std::vector<AddedToken> added_tokens;
  std::unique_ptr<Normalizer> normalizer;
  std::unique_ptr<PreTokenizer> pre_tokenizer;
  std::unique_ptr<TokenizerModel> model;
  PostProcessor post_processor;
  std::unique_ptr<Decoder> decoder;
  FillInMiddleTokens fill_in_middle = {};  // those that files name by their role
  bool split_special_tokens = false;       // special tokens in a text are split like other text
  std::vector<std::string> warnings = {};  // see Tokenizer::warnings()
};

using heed::SpecialTokens;

/// The special tokens that a configuration names.
struct SpecialTokenNames {
  std::optional<std::string> bos, eos, pad, unk, mask, sep, cls;
};

/// Text to ids of pieces and back, with the same ids as Python's `tokenizers`. Immutable;
/// copies share everything and any number of threads may use one at once.
///
/// Truncation and padding that a tokenizer.json specifies are left to the caller, as in
/// `transformers`.
class Tokenizer {
 public:
  /// Reads the tokenizer of a model directory: tokenizer.json, or else vocab.json with merges.txt,
  /// or else a SentencePiece model (tokenizer.model, spiece.model, sentencepiece.bpe.model,
  /// spm.model), or else vocab.txt; with tokenizer_config.json, special_tokens_map.json,
  /// added_tokens.json and config.json where they are. Throws Error when there is none or when one
  /// is broken.
  static Tokenizer load(const std::filesystem::path& model_directory);
  /// Reads the contents of a tokenizer.json; `file` is its name in messages.
  static Tokenizer from_json(const nlohmann::json& json, const std::string& file);
  /// From its parts. `names` are special tokens; for a role without a name, the usual pieces
  /// ("<s>", "[MASK]") are tried. `files` is what files() returns.
  using Files = std::vector<std::pair<std::string, std::string>>;
  static Tokenizer from_parts(TokenizerParts parts, const SpecialTokenNames& names,
                              Files files = {});
  /// The same; `write_files` is called when files() is first called.
  static Tokenizer from_parts(TokenizerParts parts, const SpecialTokenNames& names,
                              std::function<Files()> write_files);

  /// The ids of a text; with those that the post-processor adds ([CLS] .. [SEP], <s>) if `special`.
  /// Special tokens in the text itself are recognised. Any bytes may be given: malformed UTF-8 is
  /// read as with_replacements() does. Throws Error on an unknown character when the vocabulary has
  /// no unknown piece, and when the limits of base/reader_limits.h on matching and on the growth of
  /// the text are exceeded.
  std::vector<int32_t> encode(std::string_view text, bool special = true) const;
  /// The ids of valid UTF-8 without those that the post-processor adds. Control tokens are text in
  /// the untrusted parts. Throws Error as above.
  std::vector<int32_t> encode(std::string_view text, const UntrustedParts& untrusted) const;
  /// The ids of two texts with special tokens and segments, as the post-processor places them. If
  /// there would be more than `max_tokens` (0: no limit), the longer text loses its end, then both
  /// do, as transformers' longest_first has it. Throws Error as encode() does, and when the
  /// post-processor cannot join texts.
  TypedIds encode_pair(std::string_view first, std::string_view second,
                       int64_t max_tokens = 0) const;
  /// The ids encode(text, false) of valid UTF-8, and for each the bytes of the text that it comes
  /// from, as `tokenizers` aligns them. Throws Error as encode() does.
  struct AlignedIds {
    std::vector<int32_t> ids;
    std::vector<TextSpan> spans;  // one for each id
  };
  AlignedIds encode_with_spans(std::string_view text) const;
  /// The tokens of a text, or with `second` of two, of any bytes. Throws Error as encode_pair()
  /// does.
  Encoding encode_with_offsets(std::string_view first,
                               const std::optional<std::string_view>& second,
                               const EncodeOptions& options) const;
  /// The text of ids, valid UTF-8. Ids without a piece (a model may have more rows than pieces) are
  /// left out, and special tokens if `skip_special`.
  std::string decode(std::span<const int32_t> ids, bool skip_special = true) const;

  /// What a token between others adds to the text, with its leading space: any bytes, perhaps a
  /// part of a code point. Empty for an id without a piece.
  std::string token_bytes(int32_t id) const;

  /// Throws Error on an id without a piece.
  const std::string& piece(int32_t id) const;
  std::optional<int32_t> id_of(std::string_view piece) const;
  /// The highest id plus one.
  int64_t vocab_size() const;
  const SpecialTokens& special_tokens() const;
  bool is_special(int32_t id) const;
  const FillInMiddleTokens& fill_in_middle() const;
  /// The ids of the pieces that are found in a text before it is split into pieces, special or not.
  std::vector<int32_t> added_tokens() const;

  /// The tokenizer's files, name and contents, to be saved with a model.
  const Files& files() const;
  /// What the files say that has no effect, one sentence for each: "FILE: KEY is VALUE and is
  /// ignored: WHY".
  const std::vector<std::string>& warnings() const;

 private:
  struct Pipeline;
  explicit Tokenizer(std::shared_ptr<const Pipeline> pipeline);
  std::vector<int32_t> encode(std::string_view text, bool special,
                              const UntrustedParts* untrusted) const;

  std::shared_ptr<const Pipeline> pipeline_;
};

/// What a tokenizer.json describes, without special tokens by their role.
TokenizerParts read_tokenizer_parts(const nlohmann::json& json, const std::string& file);

/// Decodes ids one by one and returns text as soon as later ids cannot change it. The concatenation
/// of what feed() and finish() return is what decode() makes of all ids, except that a different
/// number of U+FFFD may stand for byte-fallback pieces that are not valid UTF-8.
class DecodeStream {
 public:
  explicit DecodeStream(Tokenizer tokenizer, bool skip_special = true)
      : tokenizer_(std::move(tokenizer)), skip_special_(skip_special) {}

  /// The text that has become certain: whole code points, often none.
  std::string feed(int32_t id);
  /// The rest of the text.
  std::string finish();

 private:
  std::string advance(bool last);

  Tokenizer tokenizer_;
  bool skip_special_;
  std::vector<int32_t> ids_;  // first context_ ids whose text was returned, then the new ones
  size_t context_ = 0, waiting_ = 0;
  std::string returned_;  // the part of the text of ids_ that was returned
};

}  // namespace heed::text
