#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace heed::metrics {

/// Corpus BLEU (Papineni et al., 2002): the geometric mean of the n-gram precisions for n = 1 to 4,
/// times the brevity penalty.
struct Bleu {
  double score = 0;                                     // 0 to 100
  std::array<double, 4> precisions{};                   // for n = 1 to 4, 0 to 100, smoothed
  double brevity_penalty = 0;                           // 0 to 1
  int64_t hypothesis_length = 0, reference_length = 0;  // tokens

  /// "BLEU = 61.23 80.0/66.7/55.0/48.2 (BP = 0.990 ratio = 0.990 hyp_len = 99 ref_len = 100)".
  std::string text() const;
  /// The settings of the metric in sacrebleu's notation:
  /// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|...".
  std::string signature() const;
};

/// BLEU with a single reference, equal to sacrebleu's default (Post, 2018): tokenize_13a(), case
/// sensitive, and the exponential smoothing of mteval (Chen and Cherry, 2014, method 3) for orders
/// without a match. Throws Error when there are no lines or the numbers of lines differ.
Bleu corpus_bleu(const std::vector<std::string>& hypotheses,
                 const std::vector<std::string>& references);

}  // namespace heed::metrics
