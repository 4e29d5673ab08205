#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "heed/base/error.h"
#include "heed/metrics/corpus_metric.h"
#include "heed/metrics/ngrams.h"
#include "heed/metrics/tokenize_13a.h"
#include "heed/metrics/words.h"

namespace heed {
namespace {

using metrics::CorpusMetric;
using metrics::ResampleScore;

constexpr size_t kOrders = 4;
/// What is counted: words of the hypothesis, words of the reference whose length is closest, and
/// for each order matching n-grams and n-grams of the hypothesis.
constexpr size_t kLength = 0, kReferenceLength = 1, kMatches = 2, kTotals = 2 + kOrders;
constexpr size_t kBleuColumns = 2 + 2 * kOrders;

constexpr const char* kBleuSettings = "case:mixed|eff:no|tok:13a|smooth:exp";

/// Precisions in percent. The k-th order without a match counts as 1 / 2^k matches; orders for
/// which the hypotheses are too short stay 0.
template <typename T>
std::array<T, kOrders> smoothed_precisions(std::span<const T> sums) {
  std::array<T, kOrders> precisions{};
  T smoothed = 1;
  for (size_t n = 0; n < kOrders && sums[kTotals + n] > 0; ++n) {
    const T matches = sums[kMatches + n], total = sums[kTotals + n];
    precisions[n] = matches > 0 ? 100 * matches / total : 100 / ((smoothed *= 2) * total);
  }
  return precisions;
}

template <typename T>
double geometric_mean(const std::array<T, kOrders>& values) {
  double logs = 0;
  for (const T value : values) logs += std::log(static_cast<double>(value));
  return std::exp(logs / kOrders);
}

template <typename T>
double brevity_penalty(std::span<const T> sums) {
  const auto length = static_cast<double>(sums[kLength]),
             reference_length = static_cast<double>(sums[kReferenceLength]);
  if (length >= reference_length) return 1;
  return length > 0 ? std::exp(1 - reference_length / length) : 0;
}

/// Without a match of any order the score is 0; smoothing applies only to some orders.
template <typename T>
bool any_match(std::span<const T> sums) {
  return std::ranges::any_of(sums.subspan(kMatches, kOrders),
                             [](T matches) { return matches > 0; });
}

template <typename T>
double bleu_score(std::span<const T> sums) {
  if (!any_match(sums)) return 0;
  return brevity_penalty(sums) * geometric_mean(smoothed_precisions(sums));
}

Bleu bleu_of(std::span<const double> sums) {
  Bleu bleu;
  bleu.score = bleu_score(sums);
  bleu.brevity_penalty = brevity_penalty(sums);
  bleu.hypothesis_length = static_cast<int64_t>(sums[kLength]);
  bleu.reference_length = static_cast<int64_t>(sums[kReferenceLength]);
  if (any_match(sums)) bleu.precisions = smoothed_precisions(sums);
  return bleu;
}

std::string details_of(const Bleu& bleu) {
  const double ratio = bleu.reference_length == 0 ? 0.0
                                                  : static_cast<double>(bleu.hypothesis_length) /
                                                        static_cast<double>(bleu.reference_length);
  const auto& precisions = bleu.precisions;
  return fmt::format(
      "{:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})",
      precisions[0], precisions[1], precisions[2], precisions[3], bleu.brevity_penalty, ratio,
      bleu.hypothesis_length, bleu.reference_length);
}

/// The length that is closest to `length`, the smaller of two.
size_t closest_length(size_t length, std::span<const std::vector<int32_t>> references) {
  size_t closest = references.front().size();
  const auto distance = [&](size_t other) {
    return std::max(length, other) - std::min(length, other);
  };
  for (const std::vector<int32_t>& reference : references) {
    const size_t other = reference.size();
    if (distance(other) < distance(closest) ||
        (distance(other) == distance(closest) && other < closest))
      closest = other;
  }
  return closest;
}

class BleuMetric final : public CorpusMetric {
 public:
  std::string name() const override { return "BLEU"; }
  std::string settings() const override { return kBleuSettings; }
  size_t columns() const override { return kBleuColumns; }

  void count(std::string_view hypothesis, std::span<const std::string_view> references,
             std::span<double> counts) const override {
    std::vector<std::string> tokenized = {metrics::tokenize_13a(hypothesis)};
    for (const std::string_view reference : references)
      tokenized.push_back(metrics::tokenize_13a(reference));
    metrics::WordIds number;
    std::vector<std::vector<int32_t>> ids;
    for (const std::string& text : tokenized) ids.push_back(number(metrics::split_words(text)));
    const auto theirs = std::span(ids).subspan(1);
    const auto overlaps = metrics::ngram_overlaps(ids.front(), theirs, kOrders);
    counts[kLength] = static_cast<double>(ids.front().size());
    counts[kReferenceLength] = static_cast<double>(closest_length(ids.front().size(), theirs));
    for (size_t n = 0; n < kOrders; ++n) {
      counts[kMatches + n] = static_cast<double>(overlaps[n].matches);
      counts[kTotals + n] = static_cast<double>(overlaps[n].hypothesis);
    }
  }

  double score(std::span<const double> sums) const override { return bleu_score(sums); }
  /// The precisions are f32, what follows is f64.
  ResampleScore score(std::span<const float> sums) const override { return {bleu_score(sums)}; }
  std::string details(std::span<const double> sums) const override {
    return details_of(bleu_of(sums));
  }
};

}  // namespace

std::unique_ptr<CorpusMetric> metrics::bleu_metric() { return std::make_unique<BleuMetric>(); }

Bleu corpus_bleu(const std::vector<std::string>& hypotheses,
                 const std::vector<std::vector<std::string>>& references) {
  Bleu bleu = bleu_of(metrics::count_lines(BleuMetric(), hypotheses, references).sums());
  bleu.references = static_cast<int64_t>(references.size());
  return bleu;
}

Bleu corpus_bleu(const std::vector<std::string>& hypotheses,
                 const std::vector<std::string>& references) {
  return corpus_bleu(hypotheses, std::vector<std::vector<std::string>>{references});
}

std::string Bleu::text() const {
  return metrics::text_of("BLEU", score, nullptr, details_of(*this));
}

std::string Bleu::signature() const { return metrics::signature_of(references, "", kBleuSettings); }

}  // namespace heed
