#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "heed/text/normalizers/normalizer.h"
#include "heed/text/regex/regex.h"

namespace heed::text {

/// A part of a text: a word, which the model segments on its own, or an added token.
struct TextPiece {
  NormalizedText text;
  std::optional<int32_t> token;
};
using TextPieces = std::vector<TextPiece>;

/// Splits a text into words. Immutable.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// Replaces pieces by their parts; added tokens stay, empty parts are left out. Throws Error when
  /// the parts become longer than `max_size` bytes in total.
  virtual void apply(TextPieces& pieces, size_t max_size) const = 0;
};

/// A pre-tokenizer that splits each piece on its own.
class PieceSplitter : public PreTokenizer {
 public:
  void apply(TextPieces& pieces, size_t max_size) const final;

 protected:
  /// Appends the parts of one piece that is not an added token.
  virtual void split(NormalizedText&& text, TextPieces& parts) const = 0;
};

/// What happens to the delimiters that a text is split at.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

/// What "pre_tokenizer" of a tokenizer.json describes; `file` is its name in messages. Throws Error
/// on an unknown type, and on missing or wrong members.
std::unique_ptr<PreTokenizer> read_pre_tokenizer(const nlohmann::json& json,
                                                 const std::string& file);

std::unique_ptr<PreTokenizer> make_sequence(std::vector<std::unique_ptr<PreTokenizer>> parts);
/// Splits at the matches of `pattern` or, if `invert`, at the gaps between them.
std::unique_ptr<PreTokenizer> make_split(Regex pattern, SplitBehavior behavior, bool invert);
/// BERT's: at white space, and around every punctuation mark.
std::unique_ptr<PreTokenizer> make_bert_pre_tokenizer();

struct ByteLevelOptions {
  bool add_prefix_space = true;
  bool use_regex = true;  // split as GPT-2 does
};
/// Replaces each byte by GPT-2's character for it.
std::unique_ptr<PreTokenizer> make_byte_level(const ByteLevelOptions& options);

struct MetaspaceOptions {
  enum class Prepend { first, never, always };
  std::string replacement = "\u2581";
  Prepend prepend = Prepend::always;
  bool split = true;
};
/// SentencePiece's: replaces spaces, and splits before each replacement.
std::unique_ptr<PreTokenizer> make_metaspace(const MetaspaceOptions& options);
MetaspaceOptions read_metaspace_options(const nlohmann::json& json, const std::string& file);

}  // namespace heed::text
