#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/generate/required_terms.h"
#include "heed/glossary.h"

namespace heed::generate {

/// Throws InputError, which names the `list` that has the term, if a text of it is empty or no
/// valid UTF-8, or if it has no target or more than kMaxTermTargets.
void check_term(const GlossaryTerm& term, std::string_view list);

/// Finds the terms of a glossary in lines.
class Glossary {
 public:
  /// `untranslated` are terms that stand in a translation as they do in the source, case included.
  /// The tokenizer must outlive this. Throws InputError as check_term(), on a term that is given
  /// twice, and on a target that the vocabulary cannot spell.
  Glossary(const std::vector<GlossaryTerm>& terms, const std::vector<std::string>& untranslated,
           const text::TranslationTokenizer& tokenizer);

  bool empty() const { return terms_.empty(); }
  /// What the translation of `line`, valid UTF-8, must contain. Its tokens are `source`, some of
  /// which belong to a text.
  std::vector<RequiredText> required_by(std::string_view line,
                                        std::span<const int32_t> source) const;

 private:
  struct Term {
    std::string source;
    std::u32string lower_source;
    std::vector<std::string> targets, capitalized_targets;
    bool match_case;
  };
  void add(const GlossaryTerm& term);
  int64_t tokens_before(std::string_view line, size_t position) const;

  const text::TranslationTokenizer& tokenizer_;
  std::vector<Term> terms_;
  /// By the first code point of `lower_source`, longest first.
  std::unordered_map<char32_t, std::vector<size_t>> beginning_with_;
};

/// What the translation of `source` must contain; null for no texts. Throws InputError as
/// required_term() and RequiredTerms do.
std::shared_ptr<const RequiredTerms> required_terms(const std::vector<RequiredText>& texts,
                                                    std::span<const int32_t> source,
                                                    const text::TranslationTokenizer& tokenizer,
                                                    std::shared_ptr<const TokenJoints> joints);

}  // namespace heed::generate
