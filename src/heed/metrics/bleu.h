#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace heed::metrics {

/// BLEU of a corpus (Papineni et al., 2002): the geometric mean of n-gram precisions, n = 1 to 4,
/// times a penalty for being shorter than the reference.
struct Bleu {
  double score = 0;                                     // 0 to 100
  std::array<double, 4> precisions{};                   // of n = 1 ... 4, 0 to 100, as smoothed
  double brevity_penalty = 0;                           // 0 to 1
  int64_t hypothesis_length = 0, reference_length = 0;  // tokens

  /// "BLEU = 61.23 80.0/66.7/55.0/48.2 (BP = 0.990 ratio = 0.990 hyp_len = 99 ref_len = 100)".
  std::string text() const;
  /// How it was computed, in sacrebleu's fields:
  /// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|...".
  std::string signature() const;
};

/// BLEU with one reference each, as sacrebleu (Post, 2018) computes it by default: tokens of
/// tokenize_13a(), case kept, and for orders without a match the exponential smoothing of mteval
/// (Chen and Cherry, 2014, method 3). Throws Error when there is nothing to compare or the numbers
/// of lines differ.
Bleu corpus_bleu(const std::vector<std::string>& hypotheses,
                 const std::vector<std::string>& references);

}  // namespace heed::metrics
