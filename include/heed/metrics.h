#pragma once

#include <array>
#include <cstdint>
#include <optional>
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
  int64_t references = 1;                               // per translation

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

/// The same with several references: each element of `references` has a line for each hypothesis.
/// An n-gram counts as often as in the reference that has it most often, and the length is that of
/// the reference with the closest length. Throws Error also when there are no references.
HEED_EXPORT Bleu corpus_bleu(const std::vector<std::string>& hypotheses,
                             const std::vector<std::vector<std::string>>& references);

/// Variants of chrF.
struct ChrfOptions {
  static constexpr int kMaxWordOrder = 8;  // what word_order may be at most
  /// Maximum order of the word n-grams: 0 is chrF (Popovic, 2015), 2 is chrF++ (Popovic, 2017).
  int word_order = 0;
};

/// Corpus chrF2: the F-score with beta = 2 (recall weighs twice as much as precision) of character
/// n-grams for n = 1 to 6.
struct HEED_EXPORT Chrf {
  double score = 0;        // 0 to 100
  int word_order = 0;      // ChrfOptions::word_order
  int64_t references = 1;  // per translation

  /// "chrF2 = 61.23"; the name has one + per word order.
  std::string text() const;
  /// The settings of the metric in sacrebleu's notation:
  /// "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|...".
  std::string signature() const;
};

/// chrF with a single reference, equal to sacrebleu's default (Post, 2018): white space removed,
/// case sensitive, precision and recall averaged over the orders for which both sides have n-grams.
/// Throws Error when there are no lines, the numbers of lines differ, or the word order is out of
/// range.
HEED_EXPORT Chrf corpus_chrf(const std::vector<std::string>& hypotheses,
                             const std::vector<std::string>& references,
                             const ChrfOptions& options = {});

/// The same with several references: each element of `references` has a line for each hypothesis,
/// which is compared with the reference that gives it the highest score.
HEED_EXPORT Chrf corpus_chrf(const std::vector<std::string>& hypotheses,
                             const std::vector<std::vector<std::string>>& references,
                             const ChrfOptions& options = {});

/// How words are made for TER. The defaults are Tercom's.
struct TerOptions {
  /// Separate punctuation from words, and decode &quot; &amp; &lt; &gt;.
  bool normalized = false;
  /// Remove . , ? : ; ! " ( and ).
  bool no_punct = false;
  /// With `normalized`, make a word of each Chinese character, and of each mark of Chinese and
  /// Japanese; with `no_punct`, remove these marks. Alone it changes nothing.
  bool asian_support = false;
  /// Do not make all letters lower case.
  bool case_sensitive = false;
};

/// Corpus TER, the translation edit rate (Snover et al., 2006): insertions, deletions,
/// substitutions and shifts of words, in percent of the words of the references. Lower is better.
struct HEED_EXPORT Ter {
  double score = 0;             // 0 or more, in percent
  int64_t edits = 0;            // the fewest for each line
  double reference_length = 0;  // words; of several references the mean
  int64_t references = 1;       // per translation
  TerOptions options;           // how words were made

  /// "TER = 61.23".
  std::string text() const;
  /// The settings of the metric in sacrebleu's notation:
  /// "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|...".
  std::string signature() const;
};

/// TER as sacrebleu computes it, with the edit distance near the diagonal and the choice of shifts
/// of Tercom. Each element of `references` has a line for each hypothesis, which is compared with
/// the reference that needs the fewest edits. Throws Error when there are no lines or no
/// references, when the numbers of lines differ, and when a line has more than 100,000 words.
HEED_EXPORT Ter corpus_ter(const std::vector<std::string>& hypotheses,
                           const std::vector<std::vector<std::string>>& references,
                           const TerOptions& options = {});

/// A metric with its options.
struct MetricChoice {
  /// What is computed.
  enum class Metric { bleu, chrf, ter };
  Metric metric = Metric::bleu;  // which of them
  ChrfOptions chrf;              // for chrf
  TerOptions ter;                // for ter
};

/// A 95% interval of a score over resamples of the lines.
struct Interval {
  double mean = 0, half_width = 0;  // mean - half_width to mean + half_width
};

/// What is asked beside the scores. All numbers are those of sacrebleu under numpy 2.
struct SignificanceOptions {
  static constexpr int64_t kMaxTrials = 1'000'000;  // what `trials` may be at most
  /// What is asked.
  enum class Test {
    none,
    /// An interval for each system by itself.
    confidence,
    /// Paired bootstrap resampling (Koehn, 2004): intervals, and for each system but the first the
    /// probability of its difference from the first.
    paired_bootstrap,
    /// Paired approximate randomisation (Riezler and Maxwell, 2005): probabilities alone.
    paired_approximate_randomization,
  };
  Test test = Test::none;  // which of them
  /// Resamples or trials, 1 to kMaxTrials; without a value 1,000, and 10,000 of approximate
  /// randomisation.
  std::optional<int64_t> trials = {};
  /// Of numpy.random.default_rng.
  uint64_t seed = 12345;
};

/// One system beside the others.
struct SystemScore {
  double score = 0;  // of all lines
  /// As that of Bleu, Chrf or Ter; with an interval "BLEU = 61.23 (μ = 61.20 ± 1.30) 80.0/...".
  std::string text;
  std::optional<Interval> interval;  // if the test has one
  /// The probability that a difference from the first system of this size, or a larger one, is by
  /// chance. The first system has none.
  std::optional<double> p_value;
};

/// The scores of several systems.
struct SystemScores {
  std::string name;                  // "BLEU", "chrF2++", "TER"
  std::vector<SystemScore> systems;  // in the order of the systems
  /// That of the metric, with the test: "nrefs:1|bs:1000|seed:12345|case:mixed|...".
  std::string signature;
};

/// Scores systems, each a translation of the same lines, and compares each with the first if the
/// test is a paired one. `references` are as for corpus_ter(). Throws Error as the metric does, and
/// when there are no systems, or a paired test has less than two.
HEED_EXPORT SystemScores score_systems(const MetricChoice& choice,
                                       const std::vector<std::vector<std::string>>& systems,
                                       const std::vector<std::vector<std::string>>& references,
                                       const SignificanceOptions& options = {});

}  // namespace heed
