#include "heed/train/tasks/stored_text.h"

#include <algorithm>

#include "heed/base/parallel.h"
#include "heed/data/alignment_score.h"
#include "heed/data/permutation.h"

namespace heed::train {
namespace {

constexpr size_t kEncodedPairs = 8192;  // that are in memory at once
constexpr int64_t kPairsPerThread = 64;
/// The most pairs from which an alignment model is learned.
constexpr int64_t kAlignedPairs = 50'000;

/// How many sources have each length.
class LengthCounts {
 public:
  void add(size_t length) {
    counts_.resize(std::max(counts_.size(), length + 1));
    ++counts_[length];
    ++total_;
  }

  /// The greatest length that more than one in a thousand have or exceed.
  int64_t usual_longest() const {
    int64_t longer = 0;
    for (size_t length = counts_.size(); length-- > 0;)
      if ((longer += counts_[length]) > total_ / 1000) return static_cast<int64_t>(length);
    return 0;
  }

 private:
  std::vector<int64_t> counts_;
  int64_t total_ = 0;
};

/// Calls visit(pair, example) for each pair, in order, with its tokens.
template <typename Visit>
void for_each_encoded(const TrainingPairs& pairs, const std::vector<PairEncoder>& encoders,
                      const Visit& visit) {
  std::vector<CorpusPair> block;
  std::vector<data::Example> encoded;
  const auto visit_block = [&] {
    encoded.resize(block.size());
    parallel_for(std::ssize(block), kPairsPerThread, [&](int64_t begin, int64_t end) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
        encoded[i] = encoders[block[i].corpus](block[i].text);
    });
    for (size_t i = 0; i < block.size(); ++i) visit(block[i], encoded[i]);
    block.clear();
  };
  pairs.for_each([&](CorpusPair pair) {
    block.push_back(std::move(pair));
    if (block.size() == kEncodedPairs) visit_block();
  });
  visit_block();
}

/// Scores the examples [begin, end) of a file, which are of one corpus.
std::vector<float> alignment_scores(const data::ExampleFile& examples, int64_t begin, int64_t end) {
  std::vector<float> scores(static_cast<size_t>(end - begin));
  if (scores.empty()) return scores;
  const data::Permutation shuffled(end - begin, 0, 0);
  std::vector<data::Example> learned;
  for (int64_t i = 0; i < std::min(kAlignedPairs, end - begin); ++i)
    learned.push_back(examples.at(begin + shuffled(i)));
  const data::AlignmentModel model(learned);
  parallel_for(std::ssize(scores), kPairsPerThread, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      scores[static_cast<size_t>(i)] = static_cast<float>(model.score(examples.at(begin + i)));
  });
  return scores;
}

/// Which of the examples have the lowest scores, as many as `share` of them; of equal scores the
/// first ones.
std::vector<bool> least_of(const std::vector<float>& scores, double share) {
  std::vector<size_t> order(scores.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](size_t i) { return scores[i]; });
  std::vector<bool> least(scores.size());
  const auto count = static_cast<size_t>(share * static_cast<double>(scores.size()));
  for (size_t i = 0; i < count; ++i) least[order[i]] = true;
  return least;
}

/// Which examples of the corpora are dropped for their alignment.
std::vector<bool> badly_aligned(const data::ExampleFile& examples,
                                const std::vector<int64_t>& sizes, double share) {
  std::vector<bool> dropped;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    const auto least = least_of(alignment_scores(examples, begin, begin + size), share);
    dropped.insert(dropped.end(), least.begin(), least.end());
    begin += size;
  }
  return dropped;
}

}  // namespace

StoredText store_text(const TrainingPairs& pairs, const std::vector<PairEncoder>& encoders,
                      const TokenLimits& limits, const std::filesystem::path& directory,
                      std::vector<data::FilterReport>& reports) {
  std::vector<bool> unaligned;
  if (limits.drop_least_aligned > 0) {
    data::ExampleFile all(directory);
    std::vector<int64_t> sizes(encoders.size());
    for_each_encoded(pairs, encoders, [&](const CorpusPair& pair, const data::Example& example) {
      if (data::length_problem(example, limits.lengths)) return;
      all.add(example);
      ++sizes[pair.corpus];
    });
    all.flush();
    unaligned = badly_aligned(all, sizes, limits.drop_least_aligned);
  }
  StoredText stored{.examples = data::ExampleFile(directory),
                    .sizes = std::vector<int64_t>(encoders.size())};
  LengthCounts lengths;
  size_t fitting = 0;
  for_each_encoded(pairs, encoders, [&](const CorpusPair& pair, const data::Example& example) {
    auto problem = data::length_problem(example, limits.lengths);
    if (!problem && !unaligned.empty() && unaligned[fitting++]) problem = data::Drop::alignment;
    reports[pair.corpus].add(problem, pair.line, pair.text);
    if (problem) return;
    stored.examples.add(example);
    ++stored.sizes[pair.corpus];
    lengths.add(example.source.size());
  });
  stored.examples.flush();
  stored.usual_longest_source = lengths.usual_longest();
  return stored;
}

}  // namespace heed::train
