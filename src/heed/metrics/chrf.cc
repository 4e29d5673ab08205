#include "heed/metrics.h"

#include <string_view>

#include "heed/base/error.h"
#include "heed/metrics/metric_version.h"
#include "heed/metrics/ngrams.h"
#include "heed/metrics/words.h"
#include "heed/text/utf8.h"

namespace heed {
namespace {

using metrics::kMetricVersion;
using metrics::ngram_overlaps;
using metrics::NgramOverlap;
using metrics::split_words;

constexpr int kCharacterOrder = 6;
constexpr double kBeta = 2;

std::vector<int32_t> characters(const std::string& text) {
  std::vector<int32_t> values;
  for (const std::string_view word : split_words(text))
    text::for_each_code_point(word, [&](const text::CodePoint& point, std::string_view) {
      values.push_back(static_cast<int32_t>(point.value));
    });
  return values;
}

bool is_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

/// Splits off one ASCII punctuation mark at the end of each word, or else at its start: "(hi)"
/// becomes "(hi" and ")".
std::vector<std::string_view> words_and_marks(std::string_view text) {
  std::vector<std::string_view> parts;
  for (const std::string_view word : split_words(text)) {
    const size_t length = word.size();
    const bool single = text::code_point_at(word, 0).length == length;
    if (!single && is_punctuation(word.back())) {
      parts.push_back(word.substr(0, length - 1));
      parts.push_back(word.substr(length - 1));
    } else if (!single && is_punctuation(word.front())) {
      parts.push_back(word.substr(0, 1));
      parts.push_back(word.substr(1));
    } else {
      parts.push_back(word);
    }
  }
  return parts;
}

std::vector<NgramOverlap> sentence_overlaps(const std::string& hypothesis,
                                            const std::string& reference, int word_order) {
  auto overlaps = ngram_overlaps(characters(hypothesis), characters(reference), kCharacterOrder);
  metrics::WordIds ids;
  const auto hypothesis_ids = ids(words_and_marks(hypothesis));
  const auto of_words = ngram_overlaps(hypothesis_ids, ids(words_and_marks(reference)), word_order);
  overlaps.insert(overlaps.end(), of_words.begin(), of_words.end());
  return overlaps;
}

double f_score(const std::vector<NgramOverlap>& sums) {
  double precision = 0, recall = 0;
  int orders = 0;
  for (const NgramOverlap& sum : sums) {
    if (sum.hypothesis == 0 || sum.reference == 0) continue;
    precision += static_cast<double>(sum.matches) / static_cast<double>(sum.hypothesis);
    recall += static_cast<double>(sum.matches) / static_cast<double>(sum.reference);
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  constexpr double kFactor = kBeta * kBeta;
  return 100 * (1 + kFactor) * precision * recall / (kFactor * precision + recall);
}

}  // namespace

Chrf corpus_chrf(const std::vector<std::string>& hypotheses,
                 const std::vector<std::string>& references, const ChrfOptions& options) {
  require(hypotheses.size() == references.size(),
          "chrF needs one reference per translation, found {} translations and {} references",
          hypotheses.size(), references.size());
  require(!hypotheses.empty(), "chrF needs at least one translation, found none");
  require(options.word_order >= 0, "the word order of chrF is {}, expected at least 0",
          options.word_order);
  std::vector<NgramOverlap> sums(static_cast<size_t>(kCharacterOrder + options.word_order));
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const auto overlaps = sentence_overlaps(hypotheses[i], references[i], options.word_order);
    for (size_t n = 0; n < sums.size(); ++n) {
      // n-grams of an order for which the reference is too short do not lower the precision.
      if (overlaps[n].reference > 0) sums[n].hypothesis += overlaps[n].hypothesis;
      sums[n].reference += overlaps[n].reference;
      sums[n].matches += overlaps[n].matches;
    }
  }
  return {f_score(sums), options.word_order};
}

std::string Chrf::text() const {
  return fmt::format("chrF2{} = {:.2f}", std::string(static_cast<size_t>(word_order), '+'), score);
}

std::string Chrf::signature() const {
  return fmt::format("nrefs:1|case:mixed|eff:yes|nc:{}|nw:{}|space:no|version:{}", kCharacterOrder,
                     word_order, kMetricVersion);
}

}  // namespace heed
