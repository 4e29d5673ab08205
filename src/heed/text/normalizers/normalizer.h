#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "heed/text/regex/regex.h"
#include "heed/text/unicode/normal_forms.h"

namespace heed::text {

/// A text on its way through a tokenizer; always valid UTF-8.
struct NormalizedText {
  std::string text;
  /// How many of its first bytes stand for the very beginning of the input: more than a code point
  /// has when one became several, none when the beginning was removed. "First word" is defined by
  /// it (Metaspace).
  size_t at_start = 0;
};

/// Changes a text before it is cut up. Immutable.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void apply(NormalizedText& text) const = 0;
};

/// What "normalizer" of a tokenizer.json describes; `file` is what errors call it. Throws Error on
/// a type that is not known, and on missing or wrong members.
std::unique_ptr<Normalizer> read_normalizer(const nlohmann::json& json, const std::string& file);

std::unique_ptr<Normalizer> make_sequence(std::vector<std::unique_ptr<Normalizer>> parts);
std::unique_ptr<Normalizer> make_unicode_form(NormalForm form);
std::unique_ptr<Normalizer> make_prepend(std::string text);
std::unique_ptr<Normalizer> make_replace(Regex pattern, std::string content);
/// The table of a SentencePiece model (precompiled_charsmap of its normalizer_spec) as `tokenizers`
/// uses it, and as the SentencePiece library does.
std::unique_ptr<Normalizer> make_precompiled(std::string charsmap, const std::string& file);
std::unique_ptr<Normalizer> make_longest_keys(std::string charsmap, const std::string& file);

struct BertNormalizerOptions {
  bool clean_text = true, chinese = true, strip_accents = true, lowercase = true;
};
std::unique_ptr<Normalizer> make_bert_normalizer(const BertNormalizerOptions& options);

// The readers of types that have a file of their own.
std::unique_ptr<Normalizer> read_bert_normalizer(const nlohmann::json& json,
                                                 const std::string& file);
std::unique_ptr<Normalizer> read_precompiled(const nlohmann::json& json, const std::string& file);
std::unique_ptr<Normalizer> read_replace(const nlohmann::json& json, const std::string& file);

}  // namespace heed::text
