#include "heed/train/tasks/vectors/hard_negatives.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "heed/base/parallel.h"
#include "heed/kernels/matmul.h"
#include "heed/train/losses/compared_vectors.h"
#include "heed/train/losses/pooled_texts.h"

namespace heed::train {
namespace {

/// Queries that are compared with all documents at a time, and tokens of a batch of texts.
constexpr int64_t kQueriesAtOnce = 256, kBatchOfTexts = 2048;
/// Candidates for each negative, of which some are the same text or answer the query.
constexpr int64_t kLookedAt = 8;

/// The vectors of the queries and of the documents of all groups, at length 1: [N, width] each.
std::pair<Tensor, Tensor> unit_vectors_of(const model::Transformer& model,
                                          const data::TextGroupDataset& groups, int64_t width) {
  Tensor queries = Tensor::empty({groups.count(), width}), documents = queries.clone();
  const auto batches = data::plan_batches(groups.lengths(), {.token_budget = kBatchOfTexts}, 0);
  parallel_in_order(std::ssize(batches), 1, [&](int64_t first, int64_t) {
    const std::vector<int64_t>& members = batches[static_cast<size_t>(first)];
    const data::Batch batch = groups.batch(members, 0);
    Context context;
    const Tensor vectors = unit_vectors(pooled_texts(model, context, batch), width);
    for (size_t i = 0; i < members.size(); ++i) {
      const float* const own = vectors.data<float>() + batch.groups.offsets[i] * width;
      std::copy_n(own, width, queries.data<float>() + members[i] * width);
      std::copy_n(own + width, width, documents.data<float>() + members[i] * width);
    }
  });
  return {queries, documents};
}

/// Which documents no query may have as a negative.
class Answers {
 public:
  explicit Answers(const std::vector<data::TextGroup>& groups) : groups_(groups) {
    for (const data::TextGroup& group : groups) documents_[group.hashes[0]].insert(group.hashes[1]);
  }
  bool has(size_t query, size_t document) const {
    return documents_.at(groups_[query].hashes[0]).contains(groups_[document].hashes[1]);
  }

 private:
  const std::vector<data::TextGroup>& groups_;
  std::unordered_map<uint64_t, std::set<uint64_t>> documents_;
};

/// The groups of the documents with the largest cosines at most `limit`, each document once.
std::vector<size_t> nearest(std::span<const float> cosines, size_t query, double limit,
                            const EmbedConfig& config, const Answers& answers,
                            const std::vector<data::TextGroup>& groups) {
  std::vector<size_t> candidates;
  for (size_t i = 0; i < cosines.size(); ++i)
    if (static_cast<double>(cosines[i]) <= limit) candidates.push_back(i);
  const auto nearer = [&](size_t a, size_t b) {
    return cosines[a] != cosines[b] ? cosines[a] > cosines[b] : a < b;
  };
  const auto looked_at =
      std::min<int64_t>(std::ssize(candidates), kLookedAt * config.hard_negatives);
  std::ranges::partial_sort(candidates, candidates.begin() + looked_at, nearer);
  candidates.resize(static_cast<size_t>(looked_at));
  std::vector<size_t> found;
  std::set<uint64_t> taken;
  for (const size_t candidate : candidates) {
    if (std::ssize(found) == config.hard_negatives) break;
    if (answers.has(query, candidate) || !taken.insert(groups[candidate].hashes[1]).second)
      continue;
    found.push_back(candidate);
  }
  return found;
}

}  // namespace

void add_hard_negatives(const EmbedConfig& config, const model::Transformer& model,
                        const data::VectorLossOptions& options, int64_t width,
                        std::vector<data::TextGroup>& groups) {
  const auto [queries, documents] =
      unit_vectors_of(model, data::TextGroupDataset(groups, options), width);
  const Answers answers(groups);
  std::vector<std::vector<size_t>> negatives(groups.size());
  for (int64_t begin = 0; begin < queries.rows(); begin += kQueriesAtOnce) {
    const int64_t end = std::min(begin + kQueriesAtOnce, queries.rows());
    Tensor cosines = Tensor::empty({end - begin, documents.rows()});
    kernels::matmul({queries.row_slice(begin, end)}, {documents, true}, {}, cosines);
    parallel_for(end - begin, 1, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) {
        const auto query = static_cast<size_t>(begin + row);
        const auto own = cosines.row_slice(row, row + 1).values<float>();
        // Of a negative cosine a part would be above it.
        const auto cosine = static_cast<double>(own[query]);
        const double limit = std::min(cosine, config.hard_negative_ratio * cosine);
        negatives[query] = nearest(own, query, limit, config, answers, groups);
      }
    });
  }
  const std::vector<data::TextGroup> before = groups;
  for (size_t i = 0; i < groups.size(); ++i)
    for (const size_t other : negatives[i]) {
      groups[i].ids.push_back(before[other].ids[1]);
      groups[i].hashes.push_back(before[other].hashes[1]);
      groups[i].unpooled.push_back(before[other].unpooled[1]);
    }
}

}  // namespace heed::train
