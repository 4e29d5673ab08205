#include <algorithm>

#include "heed/base/error.h"
#include "heed/confidence.h"
#include "heed/inspect/markup.h"
#include "heed/inspect/page_parts.h"

namespace heed {
namespace {

using inspect::escaped;

int percent(double probability) { return static_cast<int>(100 * probability); }

/// The translation, with an element around each word of little confidence.
std::string marked_words(const Candidate& translation, double min_confidence) {
  std::string html;
  size_t at = 0;  // in the text
  for (const auto& [word, confidence] : translation.words) {
    const size_t begin = translation.text.find(word, at);
    require(begin != std::string::npos, "a translation has not the word {}", quoted(word));
    html += escaped(translation.text.substr(at, begin - at));
    at = begin + word.size();
    const char* mark = confidence < min_confidence             ? "low"
                       : confidence < (1 + min_confidence) / 2 ? "some"
                                                               : "";
    html += fmt::format("<span{} title=\"{}%\">{}</span>",
                        *mark ? fmt::format(" class=\"{}\"", mark) : "", percent(confidence),
                        escaped(word));
  }
  return html + escaped(translation.text.substr(at));
}

std::string row_of(const TranslationToReview& row, double min_confidence) {
  const Candidate& translation = row.translation;
  const bool words = std::ranges::any_of(translation.words, [&](const WordConfidence& word) {
    return word.confidence < min_confidence;
  });
  const char* kind = should_be_read(translation, min_confidence) ? " class=\"read\""
                     : words                                     ? " class=\"words\""
                                                                 : "";
  return fmt::format(
      "<tr{}><td>{}</td><td>{}%</td><td dir=\"auto\">{}</td><td dir=\"auto\">{}{}</td></tr>\n",
      kind, row.number, percent(translation.confidence.value_or(0)), escaped(row.source),
      marked_words(translation, min_confidence),
      translation.hypothesis.complete ? "" : " <span class=\"cut\">(cut off)</span>");
}

}  // namespace

bool should_be_read(const Candidate& translation, double min_confidence) {
  return translation.confidence.value_or(0) < min_confidence || !translation.hypothesis.complete;
}

std::string confidence_page(const std::vector<TranslationToReview>& translations,
                            double min_confidence) {
  std::string html;
  int64_t to_read = 0;
  for (const TranslationToReview& row : translations) {
    to_read += should_be_read(row.translation, min_confidence) ? 1 : 0;
    html += row_of(row, min_confidence);
  }
  return inspect::fill_template(
      inspect::page::review_html,
      {{"title", "Translations to review"},
       {"summary", fmt::format("{} of {} translations should be read: their confidence is below "
                               "{}%, or they were cut off.",
                               to_read, translations.size(), percent(min_confidence))},
       {"threshold", fmt::format("{}", percent(min_confidence))},
       {"style", std::string(inspect::page::base_css) + std::string(inspect::page::review_css)},
       {"rows", html}});
}

}  // namespace heed
