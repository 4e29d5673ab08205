#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "heed/export.h"

namespace heed {

/// Corpus BLEU (Papineni et al., 2002): the geometric mean of the n-gram precisions for n = 1 to 4,
/// times the brevity penalty.
struct HEED_EXPORT Bleu {
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
HEED_EXPORT Bleu corpus_bleu(const std::vector<std::string>& hypotheses,
                             const std::vector<std::string>& references);

/// Variants of chrF.
struct ChrfOptions {
  /// Maximum order of the word n-grams: 0 is chrF (Popovic, 2015), 2 is chrF++ (Popovic, 2017).
  int word_order = 0;
};

/// Corpus chrF2: the F-score with beta = 2 (recall weighs twice as much as precision) of character
/// n-grams for n = 1 to 6.
struct HEED_EXPORT Chrf {
  double score = 0;    // 0 to 100
  int word_order = 0;  // ChrfOptions::word_order

  /// "chrF2 = 61.23"; the name has one + per word order.
  std::string text() const;
  /// The settings of the metric in sacrebleu's notation:
  /// "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|...".
  std::string signature() const;
};

/// chrF with a single reference, equal to sacrebleu's default (Post, 2018): white space removed,
/// case sensitive, precision and recall averaged over the orders for which both sides have n-grams.
/// Throws Error when there are no lines or the numbers of lines differ.
HEED_EXPORT Chrf corpus_chrf(const std::vector<std::string>& hypotheses,
                             const std::vector<std::string>& references,
                             const ChrfOptions& options = {});

}  // namespace heed
