#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "heed/text/normalizers/normalizer.h"
#include "heed/text/regex/regex.h"

namespace heed::text {

/// A part of a text that the model will cut up on its own ("word"), or that is an added token.
struct TextPiece {
  NormalizedText text;
  std::optional<int32_t> token;
};
using TextPieces = std::vector<TextPiece>;

/// Cuts a text into words. Immutable.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// Replaces pieces by their parts; added tokens stay, empty parts are left out.
  void apply(TextPieces& pieces) const;

 protected:
  /// Appends the parts of one piece that is no added token.
  virtual void cut(NormalizedText&& text, TextPieces& parts) const = 0;
};

/// What becomes of the delimiters that a text is split at.
enum class Delimiters { removed, isolated, merged_with_previous, merged_with_next, contiguous };

/// What "pre_tokenizer" of a tokenizer.json describes; `file` is what errors call it. Throws Error
/// on a type that is not known, and on missing or wrong members.
std::unique_ptr<PreTokenizer> read_pre_tokenizer(const nlohmann::json& json,
                                                 const std::string& file);

std::unique_ptr<PreTokenizer> make_sequence(std::vector<std::unique_ptr<PreTokenizer>> parts);
/// Splits at the matches of `pattern`, or, when inverted, at what lies between them.
std::unique_ptr<PreTokenizer> make_split(Regex pattern, Delimiters delimiters, bool invert);
/// BERT's: at white space, and around every punctuation mark.
std::unique_ptr<PreTokenizer> make_bert_pre_tokenizer();

struct ByteLevelOptions {
  bool add_prefix_space = true;
  bool use_regex = true;  // split as GPT-2 does
};
/// Turns bytes into GPT-2's letters.
std::unique_ptr<PreTokenizer> make_byte_level(const ByteLevelOptions& options);

struct MetaspaceOptions {
  enum class Prepend { first, never, always };
  std::string replacement = "\u2581";
  Prepend prepend = Prepend::always;
  bool split = true;
};
/// SentencePiece's: a space becomes the replacement, and words begin with it.
std::unique_ptr<PreTokenizer> make_metaspace(const MetaspaceOptions& options);
MetaspaceOptions read_metaspace_options(const nlohmann::json& json, const std::string& file);

}  // namespace heed::text
