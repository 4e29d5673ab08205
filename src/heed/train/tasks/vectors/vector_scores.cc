#include "heed/train/tasks/vectors/vector_scores.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "heed/kernels/matmul.h"
#include "heed/metrics/correlation.h"
#include "heed/metrics/retrieval.h"
#include "heed/train/losses/compared_vectors.h"
#include "heed/train/losses/max_sim.h"

namespace heed::train {
namespace {

using data::TextGroups;
using data::VectorLoss;

/// Queries whose cosines are in memory at a time.
constexpr int64_t kQueriesAtATime = 256;

/// Different texts, in the order in which they first come.
class DistinctTexts {
 public:
  /// The number of a text.
  int64_t add(uint64_t hash, size_t text) {
    const auto [place, fresh] = numbers_.try_emplace(hash, std::ssize(texts_));
    if (fresh) texts_.push_back(static_cast<int32_t>(text));
    return place->second;
  }
  int64_t count() const { return std::ssize(texts_); }
  std::vector<int32_t> texts(int64_t begin, int64_t end) const {
    return {texts_.begin() + begin, texts_.begin() + end};
  }

 private:
  std::unordered_map<uint64_t, int64_t> numbers_;
  std::vector<int32_t> texts_;
};

/// The scores [queries, documents] of texts by their numbers.
using CompareTexts = std::function<Tensor(const std::vector<int32_t>& queries,
                                          const std::vector<int32_t>& documents)>;

CompareTexts by_dot_products(const Tensor& vectors) {
  return [vectors](const std::vector<int32_t>& queries, const std::vector<int32_t>& documents) {
    Tensor scores = Tensor::empty({std::ssize(queries), std::ssize(documents)});
    kernels::matmul({rows_of(vectors, queries)}, {rows_of(vectors, documents), true}, {}, scores);
    return scores;
  };
}

metrics::RetrievalScores retrieval_of(const CompareTexts& compare, const TextGroups& groups) {
  DistinctTexts queries, documents;
  std::vector<std::set<int64_t>> answers;
  for (size_t i = 0; i < static_cast<size_t>(groups.count()); ++i) {
    const auto first = static_cast<size_t>(groups.offsets[i]);
    const auto query = static_cast<size_t>(queries.add(groups.texts[first], first));
    if (query == answers.size()) answers.emplace_back();
    for (size_t text = first + 1; text < static_cast<size_t>(groups.offsets[i + 1]); ++text) {
      const int64_t document = documents.add(groups.texts[text], text);
      if (text == first + 1) answers[query].insert(document);
    }
  }

  metrics::RetrievalScores sum;
  for (int64_t begin = 0; begin < queries.count(); begin += kQueriesAtATime) {
    const int64_t end = std::min(begin + kQueriesAtATime, queries.count());
    const Tensor scores = compare(queries.texts(begin, end), documents.texts(0, documents.count()));
    for (int64_t query = begin; query < end; ++query) {
      const auto& own = answers[static_cast<size_t>(query)];
      const std::vector<int64_t> found(own.begin(), own.end());
      sum += metrics::retrieval_scores(
          scores.row_slice(query - begin, query - begin + 1).values<float>(), found);
    }
  }
  return metrics::mean_of_queries(sum, queries.count());
}

std::vector<double> cosines_of_pairs(const Tensor& units, const TextGroups& groups) {
  std::vector<double> cosines;
  for (size_t i = 0; i < static_cast<size_t>(groups.count()); ++i) {
    const int64_t first = groups.offsets[i];
    cosines.push_back(dot(units.row_slice(first, first + 1).values<float>(),
                          units.row_slice(first + 1, first + 2).values<float>()));
  }
  return cosines;
}

/// The mean cosine with the vectors of a teacher.
double cosine_with_teacher(const Tensor& vectors, const TextGroups& groups) {
  const Tensor teacher = unit_vectors(
      Tensor::of({groups.count(), groups.score_count}, groups.scores), groups.score_count);
  const Tensor own = unit_vectors(vectors, vectors.cols());
  double sum = 0;
  for (int64_t i = 0; i < own.elements(); ++i)
    sum +=
        static_cast<double>(own.data<float>()[i]) * static_cast<double>(teacher.data<float>()[i]);
  return sum / static_cast<double>(own.rows());
}

/// The metrics of retrieval, whose names end with `suffix`.
void add_retrieval(const CompareTexts& compare, const TextGroups& groups, const std::string& suffix,
                   ValidationRecord& record) {
  const metrics::RetrievalScores scores = retrieval_of(compare, groups);
  record.metrics["ndcg@10" + suffix] = scores.ndcg_10;
  record.metrics["mrr@10" + suffix] = scores.mrr_10;
  record.metrics["recall@1" + suffix] = scores.recall_1;
  record.metrics["recall@10" + suffix] = scores.recall_10;
  record.best_by = "ndcg@10";
}

/// The metrics of vectors of one width, whose names end with `suffix`.
void add_scores_of(const Tensor& units, const TextGroups& groups, const std::string& suffix,
                   ValidationRecord& record) {
  if (groups.options.loss == VectorLoss::cosine || groups.options.loss == VectorLoss::cosent) {
    const std::vector<double> cosines = cosines_of_pairs(units, groups);
    const std::vector<double> scores(groups.scores.begin(), groups.scores.end());
    record.metrics["pearson" + suffix] = metrics::pearson(cosines, scores);
    record.metrics["spearman" + suffix] = metrics::spearman(cosines, scores);
    record.best_by = "spearman";
    return;
  }
  add_retrieval(by_dot_products(units), groups, suffix, record);
}

/// How many numbers of the vectors of queries, and of other texts, are not 0, on average.
void add_active_dims(const Tensor& vectors, const TextGroups& groups, ValidationRecord& record) {
  double queries = 0, documents = 0;
  for (size_t i = 0; i < static_cast<size_t>(groups.count()); ++i)
    for (int32_t text = groups.offsets[i]; text < groups.offsets[i + 1]; ++text) {
      const auto own = vectors.row_slice(text, text + 1).values<float>();
      const auto active = std::ranges::count_if(own, [](float x) { return x != 0; });
      (text == groups.offsets[i] ? queries : documents) += static_cast<double>(active);
    }
  record.metrics["query_active_dims"] = queries / static_cast<double>(groups.count());
  record.metrics["document_active_dims"] =
      documents / static_cast<double>(std::ssize(groups.texts) - groups.count());
}

}  // namespace

void add_vector_scores(const Tensor& vectors, const TextGroups& groups, ValidationRecord& record) {
  if (groups.options.kind == data::VectorKind::sparse) {
    add_active_dims(vectors, groups, record);
    return add_retrieval(by_dot_products(vectors), groups, "", record);
  }
  if (groups.options.kind == data::VectorKind::multi_vector) {
    const Tensor units = unit_vectors(vectors, vectors.cols());
    const auto by_max_sim = [&](const auto& queries, const auto& documents) {
      return MaxSim(groups, units, queries, documents).scores();
    };
    return add_retrieval(by_max_sim, groups, "", record);
  }
  if (groups.options.loss == VectorLoss::distill) {
    record.metrics["cosine"] = cosine_with_teacher(vectors, groups);
    record.best_by = "cosine";
    return;
  }
  for (const int64_t width : groups.options.dims)
    if (width != vectors.cols())
      add_scores_of(unit_vectors(vectors, width), groups, fmt::format("/{}", width), record);
  add_scores_of(unit_vectors(vectors, vectors.cols()), groups, "", record);
}

}  // namespace heed::train
