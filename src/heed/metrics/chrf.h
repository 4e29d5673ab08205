#pragma once

#include <string>
#include <vector>

namespace heed::metrics {

struct ChrfOptions {
  /// Longest n-gram of words beside those of characters: 0 is chrF (Popovic, 2015), 2 is chrF++
  /// (Popovic, 2017).
  int word_order = 0;
};

/// chrF2 of a corpus: the F-score, recall counting twice as much as precision (beta = 2), of
/// n-grams of characters, n = 1 to 6.
struct Chrf {
  double score = 0;  // 0 to 100
  int word_order = 0;

  /// "chrF2 = 61.23", with a + for each word order.
  std::string text() const;
  /// How it was computed, in sacrebleu's fields:
  /// "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|...".
  std::string signature() const;
};

/// chrF with one reference each, as sacrebleu (Post, 2018) computes it by default: white space left
/// out, case kept, precision and recall averaged over the orders that both sides have n-grams of.
/// Throws Error when there is nothing to compare or the numbers of lines differ.
Chrf corpus_chrf(const std::vector<std::string>& hypotheses,
                 const std::vector<std::string>& references, const ChrfOptions& options = {});

}  // namespace heed::metrics
