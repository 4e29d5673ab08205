#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed::text {

/// The codes of the languages to translate from and to ("en", "eng_Latn"); empty: not given.
struct LanguagePair {
  std::string source, target;
};

/// The languages of a multilingual translator: a token for each, and where these tokens stand.
class LanguageTokens {
 public:
  /// Where the languages' tokens stand.
  enum class Layout {
    /// Source's before its text; target's is the decoder's first output (M2M-100, NLLB, mBART-50).
    source_first,
    /// Source's after its end of sequence; target's likewise the first output (NLLB at first).
    source_last,
    /// Source's after its end of sequence; target's is the decoder's first input (mBART).
    target_starts,
    /// The target's before the text of the source, which has none of its own (OPUS-MT, Johnson et
    /// al. 2017).
    target_in_source,
    /// The target's and then the source's, another token, before the text of the source.
    both_in_source
  };
  using Codes = std::vector<std::pair<std::string, int32_t>>;

  /// No languages.
  LanguageTokens() = default;
  /// `otherwise`: the languages that stand in for those that are not given.
  LanguageTokens(Layout layout, Codes codes, LanguagePair otherwise = {});
  /// Of the layout both_in_source.
  LanguageTokens(Codes targets, Codes sources);

  bool empty() const { return codes_.empty(); }
  Layout layout() const { return layout_; }
  /// Whether the decoder gets no language: those of a pair stand in its source.
  bool in_source() const {
    return layout_ == Layout::target_in_source || layout_ == Layout::both_in_source;
  }
  /// The languages that can be translated into.
  const Codes& codes() const { return codes_; }
  /// Those that a source can be in; none where sources have no token of their own.
  const Codes& source_codes() const { return source_codes_; }
  bool contains(int32_t token) const;

  /// The token of the source or target of `pair`, or else of the one that stands in for it; none
  /// without either. Throws Error, which lists some codes, when the language is unknown.
  std::optional<int32_t> source(const LanguagePair& pair) const;
  std::optional<int32_t> target(const LanguagePair& pair) const;
  /// Throws Error which says that the language of the "source" or "target" is missing, and lists
  /// some codes.
  [[noreturn]] void fail_missing(std::string_view side) const;

 private:
  Layout layout_ = Layout::source_first;
  Codes codes_, source_codes_;
  LanguagePair otherwise_;
};

/// The codes without the tokens.
std::vector<std::string> names_of(const LanguageTokens::Codes& codes);

/// The codes of mBART's 25 languages and mBART-50's 52, and of M2M-100's 100, in the order of their
/// tokens, for files that do not list them.
std::span<const std::string_view> mbart_languages();
std::span<const std::string_view> mbart50_languages();
std::span<const std::string_view> m2m100_languages();

}  // namespace heed::text
