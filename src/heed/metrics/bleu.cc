#include "heed/metrics.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/metrics/metric_version.h"
#include "heed/metrics/ngrams.h"
#include "heed/metrics/tokenize_13a.h"
#include "heed/metrics/words.h"

namespace heed {
namespace {

using metrics::kMetricVersion;
using metrics::ngram_overlaps;
using metrics::NgramOverlap;
using metrics::split_words;
using metrics::tokenize_13a;

constexpr size_t kOrders = 4;
using Overlaps = std::array<NgramOverlap, kOrders>;

void add_sentence(const std::string& hypothesis, const std::string& reference, Overlaps& sums) {
  const std::string ours = tokenize_13a(hypothesis), theirs = tokenize_13a(reference);
  metrics::WordIds ids;
  const auto hypothesis_ids = ids(split_words(ours)), reference_ids = ids(split_words(theirs));
  const auto overlaps = ngram_overlaps(hypothesis_ids, reference_ids, kOrders);
  for (size_t n = 0; n < kOrders; ++n) {
    sums[n].hypothesis += overlaps[n].hypothesis;
    sums[n].reference += overlaps[n].reference;
    sums[n].matches += overlaps[n].matches;
  }
}

/// Precisions in percent. The k-th order without a match counts as 1 / 2^k matches; orders for
/// which the hypotheses are too short stay 0.
std::array<double, kOrders> smoothed_precisions(const Overlaps& sums) {
  std::array<double, kOrders> precisions{};
  double smoothed = 1;
  for (size_t n = 0; n < kOrders && sums[n].hypothesis > 0; ++n) {
    double matches = static_cast<double>(sums[n].matches);
    if (sums[n].matches == 0) matches = smoothed /= 2;
    precisions[n] = 100 * matches / static_cast<double>(sums[n].hypothesis);
  }
  return precisions;
}

double geometric_mean(const std::array<double, kOrders>& values) {
  double logs = 0;
  for (const double value : values) logs += std::log(value);
  return std::exp(logs / kOrders);
}

}  // namespace

Bleu corpus_bleu(const std::vector<std::string>& hypotheses,
                 const std::vector<std::string>& references) {
  require(hypotheses.size() == references.size(),
          "BLEU needs one reference per translation, found {} translations and {} references",
          hypotheses.size(), references.size());
  require(!hypotheses.empty(), "BLEU needs at least one translation, found none");
  Overlaps sums{};
  for (size_t i = 0; i < hypotheses.size(); ++i) add_sentence(hypotheses[i], references[i], sums);

  Bleu bleu;
  bleu.hypothesis_length = sums[0].hypothesis;
  bleu.reference_length = sums[0].reference;
  const double ratio =
      static_cast<double>(bleu.reference_length) / static_cast<double>(bleu.hypothesis_length);
  bleu.brevity_penalty = bleu.hypothesis_length >= bleu.reference_length ? 1.0
                         : bleu.hypothesis_length > 0                    ? std::exp(1 - ratio)
                                                                         : 0.0;
  // Without a match of any order the score is 0; smoothing applies only to some orders.
  if (std::any_of(sums.begin(), sums.end(), [](const auto& sum) { return sum.matches > 0; })) {
    bleu.precisions = smoothed_precisions(sums);
    bleu.score = bleu.brevity_penalty * geometric_mean(bleu.precisions);
  }
  return bleu;
}

std::string Bleu::text() const {
  const double ratio = reference_length == 0 ? 0.0
                                             : static_cast<double>(hypothesis_length) /
                                                   static_cast<double>(reference_length);
  return fmt::format(
      "BLEU = {:.2f} {:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len "
      "= "
      "{})",
      score, precisions[0], precisions[1], precisions[2], precisions[3], brevity_penalty, ratio,
      hypothesis_length, reference_length);
}

std::string Bleu::signature() const {
  return fmt::format("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{}", kMetricVersion);
}

}  // namespace heed
