#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed::metrics {

/// How well the documents that answer a query rank among all, with relevances of 0 and 1, as
/// sentence-transformers' InformationRetrievalEvaluator and ranx compute it.
struct RetrievalScores {
  double ndcg_10 = 0;    // normalised discounted cumulative gain of the first ten
  double mrr_10 = 0;     // 1 / rank of the first answer, 0 below ten
  double recall_1 = 0;   // the share of the answers that are the first
  double recall_10 = 0;  // and among the first ten

  RetrievalScores& operator+=(const RetrievalScores& other);
};

/// Of one query: `scores` of all documents, and the numbers of those that answer it, at least one.
/// Of equal scores the earlier document ranks first.
RetrievalScores retrieval_scores(std::span<const float> scores, std::span<const int64_t> answers);

/// The same of the means over queries, each of which has its sum in `sum`.
RetrievalScores mean_of_queries(const RetrievalScores& sum, int64_t queries);

}  // namespace heed::metrics
