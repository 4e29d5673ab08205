#include "heed/metrics/retrieval.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"

namespace heed::metrics {
namespace {

constexpr int64_t kFirst = 10;

/// Of a document at a rank from 0.
double discount(int64_t rank) { return 1 / std::log2(static_cast<double>(rank) + 2); }

}  // namespace

RetrievalScores& RetrievalScores::operator+=(const RetrievalScores& other) {
  ndcg_10 += other.ndcg_10;
  mrr_10 += other.mrr_10;
  recall_1 += other.recall_1;
  recall_10 += other.recall_10;
  return *this;
}

RetrievalScores retrieval_scores(std::span<const float> scores, std::span<const int64_t> answers) {
  require(!answers.empty(), "no document answers the query");
  RetrievalScores result;
  double gain = 0, best = 0;
  const double each = 1 / static_cast<double>(answers.size());
  for (const int64_t answer : answers) {
    const float own = scores[static_cast<size_t>(answer)];
    int64_t rank = 0;
    for (int64_t other = 0; other < std::ssize(scores); ++other) {
      const float score = scores[static_cast<size_t>(other)];
      if (score > own || (score == own && other < answer)) ++rank;
    }
    if (rank >= kFirst) continue;
    gain += discount(rank);
    result.mrr_10 = std::max(result.mrr_10, 1 / static_cast<double>(rank + 1));
    result.recall_10 += each;
    if (rank == 0) result.recall_1 += each;
  }
  for (int64_t rank = 0; rank < std::min<int64_t>(kFirst, std::ssize(answers)); ++rank)
    best += discount(rank);
  result.ndcg_10 = gain / best;
  return result;
}

RetrievalScores mean_of_queries(const RetrievalScores& sum, int64_t queries) {
  const auto count = static_cast<double>(queries);
  return {.ndcg_10 = sum.ndcg_10 / count,
          .mrr_10 = sum.mrr_10 / count,
          .recall_1 = sum.recall_1 / count,
          .recall_10 = sum.recall_10 / count};
}

}  // namespace heed::metrics
