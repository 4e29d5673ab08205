#include "heed/data/lexical_table.h"

#include <algorithm>
#include <map>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/parallel.h"

namespace heed::data {
namespace {

/// One more than the largest token of some.
int32_t size_of(std::span<const TokenPair> pairs, std::vector<int32_t> TokenPair::*side) {
  int32_t size = 0;
  for (const TokenPair& pair : pairs)
    for (const int32_t token : pair.*side) {
      require(token >= 0, "a token is {}, expected at least 0", token);
      size = std::max(size, token + 1);
    }
  return size;
}

/// The most probable entries of a source token, at most `most`, best first. `counts` are by target
/// token; their sum is `total`.
void add_best(int32_t source, std::span<const std::pair<int32_t, double>> counts, double total,
              int64_t most, std::vector<LexicalEntry>& entries) {
  std::vector<LexicalEntry> own;
  for (const auto& [target, count] : counts) {
    const auto probability = static_cast<float>(count / total);
    if (probability >= kLeastLexicalProbability) own.push_back({target, source, probability});
  }
  std::ranges::stable_sort(own, std::greater(), &LexicalEntry::probability);
  own.resize(std::min(own.size(), static_cast<size_t>(most)));
  entries.insert(entries.end(), own.begin(), own.end());
}

void add_frequent(std::span<const TokenPair> pairs, int64_t most,
                  std::vector<LexicalEntry>& entries) {
  std::map<int32_t, double> counts;
  double total = 0;
  for (const TokenPair& pair : pairs)
    for (const int32_t token : pair.target) {
      ++counts[token];
      ++total;
    }
  const std::vector<std::pair<int32_t, double>> all(counts.begin(), counts.end());
  add_best(kNoSource, all, total, most, entries);
}

/// Model 1. The sentences of a source token are visited together, so that its probabilities and
/// counts are in arrays of a vocabulary that the cache holds, and no table of pairs of tokens is
/// looked up. Source tokens are numbered from 1; 0 is the empty word.
class Model1 {
 public:
  explicit Model1(std::span<const TokenPair> pairs)
      : pairs_(pairs),
        targets_(static_cast<size_t>(size_of(pairs, &TokenPair::target))),
        sentences_(static_cast<size_t>(size_of(pairs, &TokenPair::source)) + 1),
        probabilities_(sentences_.size()) {
    size_t first = 0;
    for (size_t b = 0; b < pairs.size(); ++b) {
      first_target_.push_back(first);
      first += pairs[b].target.size();
      std::map<int32_t, float> times{{0, 1.0f}};
      for (const int32_t token : pairs[b].source) ++times[token + 1];
      for (const auto& [word, count] : times)
        sentences_[static_cast<size_t>(word)].push_back({static_cast<int32_t>(b), count});
    }
    first_target_.push_back(first);
    denominators_.resize(first);
  }

  /// Expectation and maximisation. The first time all translations are equally likely.
  void iterate() {
    check_interrupted();
    sum_denominators();
    count();
  }

  std::span<const std::pair<int32_t, double>> counts_of(int32_t source) const {
    return probabilities_[static_cast<size_t>(source) + 1];
  }
  int32_t sources() const { return static_cast<int32_t>(sentences_.size()) - 1; }

 private:
  /// A sentence that has a word, and how often.
  struct Occurrence {
    int32_t sentence;
    float times;
  };
  using Sparse = std::vector<std::pair<int32_t, double>>;  // by target token, in ascending order

  std::span<const int32_t> target(int32_t sentence) const {
    return pairs_[static_cast<size_t>(sentence)].target;
  }

  /// Of each target word, the sum of its probabilities given each word of the source. Each range
  /// of sentences is one thread's.
  void sum_denominators() {
    constexpr int64_t kRanges = 16;
    const auto sentences = std::ssize(pairs_);
    std::ranges::fill(denominators_, 0.0f);
    parallel_in_order(kRanges, 1, [&](int64_t begin, int64_t end) {
      std::vector<float> dense(targets_);
      for (int64_t range = begin; range < end; ++range)
        add_denominators(static_cast<int32_t>(sentences * range / kRanges),
                         static_cast<int32_t>(sentences * (range + 1) / kRanges), dense);
    });
  }

  void add_denominators(int32_t first, int32_t last, std::vector<float>& dense) {
    for (size_t word = 0; word < sentences_.size(); ++word) {
      const std::vector<Occurrence>& all = sentences_[word];
      auto one = std::ranges::lower_bound(all, first, {}, &Occurrence::sentence);
      if (one == all.end() || one->sentence >= last) continue;
      load(word, dense);
      for (; one != all.end() && one->sentence < last; ++one) {
        float* sum = &denominators_[first_target_[static_cast<size_t>(one->sentence)]];
        for (const int32_t token : target(one->sentence))
          *sum++ += one->times * dense[static_cast<size_t>(token)];
      }
      clear(word, dense);
    }
  }

  void count() {
    parallel_in_order(std::ssize(sentences_), 64, [&](int64_t begin, int64_t end) {
      std::vector<float> dense(targets_);
      std::vector<double> counts(targets_);
      for (auto word = static_cast<size_t>(begin); word < static_cast<size_t>(end); ++word) {
        load(word, dense);
        for (const auto& [sentence, times] : sentences_[word]) {
          const float* sum = &denominators_[first_target_[static_cast<size_t>(sentence)]];
          for (const int32_t token : target(sentence)) {
            const auto index = static_cast<size_t>(token);
            counts[index] += static_cast<double>(times * dense[index] / *sum++);
          }
        }
        clear(word, dense);
        keep(word, counts);
      }
    });
    started_ = true;
  }

  void load(size_t word, std::vector<float>& dense) const {
    if (!started_) std::ranges::fill(dense, 1.0f);
    for (const auto& [token, probability] : probabilities_[word])
      dense[static_cast<size_t>(token)] = static_cast<float>(probability);
  }
  void clear(size_t word, std::vector<float>& dense) const {
    for (const auto& [token, probability] : probabilities_[word])
      dense[static_cast<size_t>(token)] = 0;
  }

  /// The probabilities that the counts give, without those that hardly matter: most are of words
  /// that happen to be in the same sentences. Sets the counts to zero.
  void keep(size_t word, std::vector<double>& counts) {
    constexpr double kLeast = 1e-6;
    double total = 0;
    for (const double value : counts) total += value;
    Sparse kept;
    for (size_t token = 0; token < counts.size(); ++token) {
      if (counts[token] > kLeast * total)
        kept.emplace_back(static_cast<int32_t>(token), counts[token] / total);
      counts[token] = 0;
    }
    probabilities_[word] = std::move(kept);
  }

  std::span<const TokenPair> pairs_;
  size_t targets_;
  std::vector<std::vector<Occurrence>> sentences_;  // of each word of the source
  std::vector<Sparse> probabilities_;               // of each word of the source
  std::vector<size_t> first_target_;                // of each sentence, in `denominators_`
  std::vector<float> denominators_;
  bool started_ = false;
};

}  // namespace

std::vector<LexicalEntry> lexical_table(std::span<const TokenPair> pairs,
                                        const LexicalTableOptions& options) {
  std::vector<LexicalEntry> entries;
  add_frequent(pairs, options.frequent, entries);
  Model1 model(pairs);
  for (int64_t i = 0; i < options.iterations; ++i) model.iterate();
  for (int32_t source = 0; source < model.sources(); ++source)
    add_best(source, model.counts_of(source), 1, options.best, entries);
  return entries;
}

std::vector<LexicalEntry> lexical_table(std::span<const TokenPair> pairs,
                                        std::span<const std::vector<Link>> links,
                                        const LexicalTableOptions& options) {
  require(links.size() == pairs.size(), "{} pairs of sentences have {} alignments", pairs.size(),
          links.size());
  size_of(pairs, &TokenPair::target);
  std::vector<std::map<int32_t, double>> counts(
      static_cast<size_t>(size_of(pairs, &TokenPair::source)));
  for (size_t b = 0; b < pairs.size(); ++b)
    for (const auto& [source, target] : links[b])
      ++counts[static_cast<size_t>(pairs[b].source.at(static_cast<size_t>(source)))]
              [pairs[b].target.at(static_cast<size_t>(target))];
  std::vector<LexicalEntry> entries;
  add_frequent(pairs, options.frequent, entries);
  for (size_t source = 0; source < counts.size(); ++source) {
    double total = 0;
    for (const auto& [target, count] : counts[source]) total += count;
    const std::vector<std::pair<int32_t, double>> own(counts[source].begin(), counts[source].end());
    add_best(static_cast<int32_t>(source), own, total, options.best, entries);
  }
  return entries;
}

}  // namespace heed::data
