#include <algorithm>

#include "heed/base/error.h"
#include "heed/metrics/corpus_metric.h"
#include "heed/metrics/ngrams.h"
#include "heed/metrics/shifted_edits.h"
#include "heed/metrics/tercom_tokenizer.h"
#include "heed/metrics/words.h"

namespace heed {
namespace {

using metrics::CorpusMetric;
using metrics::ResampleScore;

/// What is counted: the fewest edits, and the mean length of the references.
constexpr size_t kEdits = 0, kMeanLength = 1, kTerColumns = 2;

/// Lines of so many words take some seconds where shifts are far.
constexpr size_t kMaxWordsOfLine = 100000;

/// The words of a text with a space between them.
std::string joined(const std::string& text) {
  std::string result;
  for (const std::string_view word : metrics::split_words(text))
    result.append(result.empty() ? "" : " ").append(word);
  return result;
}

/// In percent; `empty` is set when the references have no words.
template <typename T>
T edit_rate(std::span<const T> sums, bool& empty) {
  empty = !(sums[kMeanLength] > 0);
  if (empty) return sums[kEdits] > 0 ? 100 : 0;
  return 100 * (sums[kEdits] / sums[kMeanLength]);
}

std::string ter_settings(const TerOptions& options) {
  const auto yes_no = [](bool value) { return value ? "yes" : "no"; };
  return fmt::format("case:{}|tok:tercom|norm:{}|punct:{}|asian:{}",
                     options.case_sensitive ? "mixed" : "lc", yes_no(options.normalized),
                     yes_no(!options.no_punct), yes_no(options.asian_support));
}

class TerMetric final : public CorpusMetric {
 public:
  explicit TerMetric(const TerOptions& options) : options_(options) {}

  std::string name() const override { return "TER"; }
  std::string settings() const override { return ter_settings(options_); }
  size_t columns() const override { return kTerColumns; }

  void count(std::string_view hypothesis, std::span<const std::string_view> references,
             std::span<double> counts) const override {
    const auto tokenized = [&](std::string_view text) {
      return joined(metrics::tokenize_tercom(text, options_));
    };
    std::vector<std::string> texts = {tokenized(hypothesis)};
    // sacrebleu tokenizes references twice, which matters to "'s" before white space of other
    // kinds.
    for (const std::string_view reference : references)
      texts.push_back(tokenized(tokenized(reference)));
    metrics::WordIds number;
    std::vector<std::vector<int32_t>> words;
    for (const std::string& text : texts) {
      words.push_back(number(metrics::split_words(text)));
      require(words.back().size() <= kMaxWordsOfLine, "TER is for at most {} words, found {}",
              kMaxWordsOfLine, words.back().size());
    }
    int64_t fewest = std::numeric_limits<int64_t>::max();
    size_t length = 0;
    for (const std::vector<int32_t>& reference : std::span(words).subspan(1)) {
      fewest = std::min(fewest, metrics::shifted_edits(words.front(), reference));
      length += reference.size();
    }
    counts[kEdits] = static_cast<double>(fewest);
    counts[kMeanLength] = static_cast<double>(length) / static_cast<double>(references.size());
  }

  double score(std::span<const double> sums) const override {
    bool empty = false;
    return edit_rate(sums, empty);
  }
  /// sacrebleu's scores without words of references are no f32.
  ResampleScore score(std::span<const float> sums) const override {
    bool empty = false;
    const float score = edit_rate(sums, empty);
    return {score, !empty};
  }

 private:
  const TerOptions options_;
};

}  // namespace

std::unique_ptr<CorpusMetric> metrics::ter_metric(const TerOptions& options) {
  return std::make_unique<TerMetric>(options);
}

Ter corpus_ter(const std::vector<std::string>& hypotheses,
               const std::vector<std::vector<std::string>>& references, const TerOptions& options) {
  const TerMetric metric(options);
  const std::vector<double> sums = metrics::count_lines(metric, hypotheses, references).sums();
  Ter ter;
  ter.score = metric.score(sums);
  ter.edits = static_cast<int64_t>(sums[kEdits]);
  ter.reference_length = sums[kMeanLength];
  ter.references = static_cast<int64_t>(references.size());
  ter.options = options;
  return ter;
}

std::string Ter::text() const { return metrics::text_of("TER", score, nullptr, ""); }

std::string Ter::signature() const {
  return metrics::signature_of(references, "", ter_settings(options));
}

}  // namespace heed
