#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/regex/regex.h"
#include "heed/text/unicode/normal_forms.h"

namespace heed::text {

/// A text on its way through a tokenizer; always valid UTF-8.
struct NormalizedText {
  std::string text;
  /// How many of the first bytes come from the first code point of the input: 0 when it was
  /// removed. Metaspace uses it to find the first word.
  size_t at_start = 0;
  /// For each byte the bytes of the input that it comes from, as `tokenizers` aligns them: whole
  /// code points; what is put before a text comes from its first. Empty if nobody wants to know.
  std::vector<TextSpan> alignments = {};
};

/// Adds alignments of the bytes of `to` that have none yet: that of byte `at` of `from`.
inline void take_alignment(const NormalizedText& from, size_t at, NormalizedText& to) {
  if (!from.alignments.empty()) to.alignments.resize(to.text.size(), from.alignments[at]);
}
/// The part [begin, end) of a text.
NormalizedText part_of(const NormalizedText& text, TextSpan span);
/// Puts `prefix` before a text that is not empty.
void prepend(std::string_view prefix, NormalizedText& text);

/// Brings a text into a normal form.
void change_form(NormalizedText& text, NormalForm form);

/// Changes a text before it is split. Immutable.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  /// Throws Error when the text becomes longer than `max_size` bytes.
  void apply(NormalizedText& text, size_t max_size) const;

 private:
  /// An implementation that applies replacements from a file must check `max_size` while the text
  /// grows. For one that grows a text at most by a constant factor, apply() checks enough.
  virtual void change(NormalizedText& text, size_t max_size) const = 0;
};

/// What "normalizer" of a tokenizer.json describes; `file` is its name in messages. Throws Error on
/// an unknown type, and on missing or wrong members.
std::unique_ptr<Normalizer> read_normalizer(const nlohmann::json& json, const std::string& file);

std::unique_ptr<Normalizer> make_sequence(std::vector<std::unique_ptr<Normalizer>> parts);
std::unique_ptr<Normalizer> make_unicode_form(NormalForm form);
std::unique_ptr<Normalizer> make_prepend(std::string text);
std::unique_ptr<Normalizer> make_replace(Regex pattern, std::string content);
/// The table of a SentencePiece model (precompiled_charsmap of its normalizer_spec) as `tokenizers`
/// uses it, and as the SentencePiece library does.
std::unique_ptr<Normalizer> make_precompiled(std::string charsmap, const std::string& file);
std::unique_ptr<Normalizer> make_longest_keys(std::string charsmap, const std::string& file);

struct SentencePieceProto;
/// All that the SentencePiece library does before it splits a text: the table, spaces and the
/// marks that stand for them. Malformed bytes become U+FFFD.
std::unique_ptr<Normalizer> make_sentencepiece_normalizer(const SentencePieceProto& proto,
                                                          const std::string& name);

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
