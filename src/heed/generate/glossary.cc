#include "heed/generate/glossary.h"

#include <algorithm>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/text/spaced_words.h"
#include "heed/text/unicode/properties.h"
#include "heed/text/utf8.h"

namespace heed::generate {
namespace {

/// A text in lower case, and where each code point came from.
struct LowerText {
  std::u32string text;
  std::vector<size_t> begins;  // in bytes, of each code point, and the size of the text

  explicit LowerText(std::string_view original) {
    size_t begin = 0;
    text::for_each_code_point(original, [&](const text::CodePoint& point, std::string_view bytes) {
      std::string lower;
      text::append_lower_case(lower, point.value);
      text::for_each_code_point(lower, [&](const text::CodePoint& part, std::string_view) {
        text += part.value;
        begins.push_back(begin);
      });
      begin += bytes.size();
    });
    begins.push_back(begin);
  }
};

/// With a capital letter in front; the same text if it begins with none that has one.
std::string capitalized(const std::string& text) {
  const text::CodePoint first = text::code_point_at(text, 0);
  std::string result;
  text::append_title_case(result, first.value);
  return result + text.substr(first.length);
}

bool begins_with_capital(std::string_view text) {
  const text::CodePoint first = text::code_point_at(text, 0);
  std::string lower;
  text::append_lower_case(lower, first.value);
  return lower != text.substr(0, first.length);
}

TokenRange text_range(const text::TranslationTokenizer& tokenizer,
                      std::span<const int32_t> source) {
  const auto [begin, end] = tokenizer.text_of(source);
  return {static_cast<int64_t>(begin), static_cast<int64_t>(end)};
}

void add_once(std::vector<std::string>& texts, std::string text) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
}

void check_text(std::string_view text, std::string_view list) {
  blame_input([&] { text::require_utf8(text, list); });
  const LowerText lower(text);
  const bool is_blank = std::ranges::all_of(lower.text, text::is_white_space);
  require_input(!is_blank, "{} has an empty text", list);
}

}  // namespace

void check_term(const GlossaryTerm& term, std::string_view list) {
  check_text(term.source, list);
  require_input(!term.targets.empty(), "the term {} of {} has no target", quoted(term.source),
                list);
  require_input(std::ssize(term.targets) <= kMaxTermTargets,
                "the term {} of {} has {} targets, expected at most {}", quoted(term.source), list,
                term.targets.size(), kMaxTermTargets);
  for (const std::string& target : term.targets) check_text(target, list);
}

Glossary::Glossary(const std::vector<GlossaryTerm>& terms,
                   const std::vector<std::string>& untranslated,
                   const text::TranslationTokenizer& tokenizer)
    : tokenizer_(tokenizer) {
  std::unordered_set<std::string_view> sources;
  const auto require_new = [&](std::string_view source) {
    require_input(
        sources.insert(source).second,
        "the term {} is given twice, in glossary or do_not_translate: expected once, with "
        "all targets that it may have",
        quoted(source));
  };
  for (const GlossaryTerm& term : terms) {
    check_term(term, "glossary");
    require_new(term.source);
    add(term);
  }
  for (const std::string& text : untranslated) {
    check_text(text, "do_not_translate");
    require_new(text);
    add({.source = text, .targets = {text}, .match_case = true});
  }
  for (size_t i = 0; i < terms_.size(); ++i)
    beginning_with_[terms_[i].lower_source.front()].push_back(i);
  for (auto& [first, indices] : beginning_with_)
    std::ranges::stable_sort(indices, std::greater(),
                             [&](size_t i) { return terms_[i].lower_source.size(); });
}

void Glossary::add(const GlossaryTerm& term) {
  required_term(tokenizer_, term.targets);  // checks that they can be spelt
  Term added{.source = term.source,
             .lower_source = LowerText(term.source).text,
             .targets = {},
             .capitalized_targets = {},
             .match_case = term.match_case};
  for (const std::string& target : term.targets) {
    add_once(added.targets, target);
    add_once(added.capitalized_targets, target);
    std::string capital = capitalized(target);
    if (can_spell(tokenizer_, capital)) add_once(added.capitalized_targets, std::move(capital));
  }
  terms_.push_back(std::move(added));
}

/// Of the line's text, as if the line ended there: pieces do not reach over the ends of words.
int64_t Glossary::tokens_before(std::string_view line, size_t position) const {
  const std::vector<int32_t> tokens = tokenizer_.encode_source(line.substr(0, position));
  return std::ranges::count_if(tokens,
                               [&](int32_t token) { return !tokenizer_.is_special(token); });
}

std::vector<RequiredText> Glossary::required_by(std::string_view line,
                                                std::span<const int32_t> source) const {
  const LowerText lower(line);
  std::vector<std::vector<TokenRange>> places(terms_.size());
  std::vector<bool> has_capital(terms_.size());
  const TokenRange text = text_range(tokenizer_, source);
  const auto place_of = [&](size_t begin, size_t end) {
    const int64_t first = tokens_before(line, lower.begins[begin]);
    const int64_t last = tokens_before(line, lower.begins[end]);
    const int64_t place = std::clamp(text.begin + first, text.begin, text.end - 1);
    return TokenRange{place, std::clamp(text.begin + last, place + 1, text.end)};
  };
  const auto ends_at = [&](const Term& term, size_t begin) -> size_t {
    const size_t end = begin + term.lower_source.size();
    if (lower.text.compare(begin, term.lower_source.size(), term.lower_source) != 0) return 0;
    const size_t first = lower.begins[begin], last = lower.begins[end];
    if (term.match_case && line.substr(first, last - first) != term.source) return 0;
    return text::is_between_words(line, last) ? end : 0;
  };
  for (size_t position = 0; position < lower.text.size();) {
    const auto found = beginning_with_.find(lower.text[position]);
    size_t next = position + 1;
    if (found != beginning_with_.end() && text::is_between_words(line, lower.begins[position]))
      for (const size_t i : found->second)
        if (const size_t end = ends_at(terms_[i], position)) {
          places[i].push_back(place_of(position, end));
          if (!terms_[i].match_case && begins_with_capital(line.substr(lower.begins[position])))
            has_capital[i] = true;
          next = end;
          break;
        }
    position = next;
  }
  std::vector<RequiredText> required;
  for (size_t i = 0; i < terms_.size(); ++i)
    if (!places[i].empty())
      required.push_back({has_capital[i] ? terms_[i].capitalized_targets : terms_[i].targets,
                          std::move(places[i])});
  return required;
}

std::shared_ptr<const RequiredTerms> required_terms(const std::vector<RequiredText>& texts,
                                                    std::span<const int32_t> source,
                                                    const text::TranslationTokenizer& tokenizer,
                                                    std::shared_ptr<const TokenJoints> joints) {
  if (texts.empty()) return nullptr;
  std::vector<RequiredTerm> terms;
  for (const RequiredText& text : texts) {
    terms.push_back(required_term(tokenizer, text.alternatives, std::ssize(text.places)));
    terms.back().places = text.places;
  }
  return std::make_shared<const RequiredTerms>(std::move(terms), tokenizer.vocab_size(),
                                               std::move(joints), text_range(tokenizer, source));
}

}  // namespace heed::generate
