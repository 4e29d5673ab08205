#include <string_view>

#include "heed/base/error.h"
#include "heed/metrics/corpus_metric.h"
#include "heed/metrics/ngrams.h"
#include "heed/metrics/words.h"
#include "heed/text/utf8.h"

namespace heed {
namespace {

using metrics::CorpusMetric;
using metrics::NgramOverlap;
using metrics::ResampleScore;
using metrics::split_words;

constexpr int kCharacterOrder = 6;
constexpr int kBeta = 2;

std::vector<int32_t> characters(std::string_view text) {
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

/// A text as the items whose n-grams are counted.
struct Items {
  std::vector<int32_t> characters, words;
};

std::vector<NgramOverlap> overlaps_of(const Items& hypothesis, const Items& reference,
                                      int word_order) {
  auto overlaps = metrics::ngram_overlaps(hypothesis.characters,
                                          std::span(&reference.characters, 1), kCharacterOrder);
  const auto of_words =
      metrics::ngram_overlaps(hypothesis.words, std::span(&reference.words, 1), word_order);
  overlaps.insert(overlaps.end(), of_words.begin(), of_words.end());
  return overlaps;
}

/// For each order: n-grams of the hypotheses, of the references, and matches.
constexpr size_t kColumnsPerOrder = 3;

template <typename T>
T f_score(std::span<const T> sums) {
  T precision = 0, recall = 0, orders = 0;
  for (size_t i = 0; i < sums.size(); i += kColumnsPerOrder) {
    const T hypothesis = sums[i], reference = sums[i + 1], matches = sums[i + 2];
    if (hypothesis == 0 || reference == 0) continue;
    precision += matches / hypothesis;
    recall += matches / reference;
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  constexpr T kFactor = kBeta * kBeta;
  return 100 * ((1 + kFactor) * precision * recall / (kFactor * precision + recall));
}

std::string name_of(int word_order) {
  return "chrF2" + std::string(static_cast<size_t>(word_order), '+');
}

std::string settings_of(int word_order) {
  return fmt::format("case:mixed|eff:yes|nc:{}|nw:{}|space:no", kCharacterOrder, word_order);
}

class ChrfMetric final : public CorpusMetric {
 public:
  explicit ChrfMetric(int word_order) : word_order_(word_order) {}

  std::string name() const override { return name_of(word_order_); }
  std::string settings() const override { return settings_of(word_order_); }
  size_t columns() const override {
    return kColumnsPerOrder * static_cast<size_t>(kCharacterOrder + word_order_);
  }

  /// The counts beside the reference with the highest score.
  void count(std::string_view hypothesis, std::span<const std::string_view> references,
             std::span<double> counts) const override {
    metrics::WordIds number;
    const auto items_of = [&](std::string_view text) {
      return Items{characters(text), number(words_and_marks(text))};
    };
    const Items ours = items_of(hypothesis);
    double best = -1;
    std::vector<double> candidate(columns());
    for (const std::string_view reference : references) {
      const auto overlaps = overlaps_of(ours, items_of(reference), word_order_);
      for (size_t n = 0; n < overlaps.size(); ++n) {
        const auto& [in_hypothesis, in_reference, matches] = overlaps[n];
        double* const order = &candidate[kColumnsPerOrder * n];
        // n-grams of an order for which the reference is too short do not lower the precision.
        order[0] = in_reference > 0 ? static_cast<double>(in_hypothesis) : 0;
        order[1] = static_cast<double>(in_reference);
        order[2] = static_cast<double>(matches);
      }
      const double score = f_score(std::span<const double>(candidate));
      if (score > best) std::copy(candidate.begin(), candidate.end(), counts.begin());
      best = std::max(best, score);
    }
  }

  double score(std::span<const double> sums) const override { return f_score(sums); }
  /// sacrebleu's 0 of no match is no f32.
  ResampleScore score(std::span<const float> sums) const override {
    const float score = f_score(sums);
    return {score, score > 0};
  }

 private:
  const int word_order_;
};

}  // namespace

std::unique_ptr<CorpusMetric> metrics::chrf_metric(const ChrfOptions& options) {
  require(options.word_order >= 0 && options.word_order <= ChrfOptions::kMaxWordOrder,
          "the word order of chrF is {}, expected 0 to {}", options.word_order,
          ChrfOptions::kMaxWordOrder);
  return std::make_unique<ChrfMetric>(options.word_order);
}

Chrf corpus_chrf(const std::vector<std::string>& hypotheses,
                 const std::vector<std::vector<std::string>>& references,
                 const ChrfOptions& options) {
  const auto metric = metrics::chrf_metric(options);
  const std::vector<double> sums = metrics::count_lines(*metric, hypotheses, references).sums();
  return {metric->score(sums), options.word_order, static_cast<int64_t>(references.size())};
}

Chrf corpus_chrf(const std::vector<std::string>& hypotheses,
                 const std::vector<std::string>& references, const ChrfOptions& options) {
  return corpus_chrf(hypotheses, std::vector<std::vector<std::string>>{references}, options);
}

std::string Chrf::text() const { return metrics::text_of(name_of(word_order), score, nullptr, ""); }

std::string Chrf::signature() const {
  return metrics::signature_of(references, "", settings_of(word_order));
}

}  // namespace heed
