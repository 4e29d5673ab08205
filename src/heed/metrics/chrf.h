#pragma once

#include <string>
#include <vector>

namespace heed::metrics {

struct ChrfOptions {
  /// Maximum order of the word n-grams: 0 is chrF (Popovic, 2015), 2 is chrF++ (Popovic, 2017).
  int word_order = 0;
};

/// Corpus chrF2: the F-score with beta = 2 (recall weighs twice as much as precision) of character
/// n-grams for n = 1 to 6.
struct Chrf {
  double score = 0;  // 0 to 100
  int word_order = 0;

  /// "chrF2 = 61.23"; the name has one + per word order.
  std::string text() const;
  /// The settings of the metric in sacrebleu's notation:
  /// "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|...".
  std::string signature() const;
};

/// chrF with a single reference, equal to sacrebleu's default (Post, 2018): white space removed,
/// case sensitive, precision and recall averaged over the orders for which both sides have n-grams.
/// Throws Error when there are no lines or the numbers of lines differ.
Chrf corpus_chrf(const std::vector<std::string>& hypotheses,
                 const std::vector<std::string>& references, const ChrfOptions& options = {});

}  // namespace heed::metrics
