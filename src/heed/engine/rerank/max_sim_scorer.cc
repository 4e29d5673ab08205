#include "heed/engine/rerank/max_sim_scorer.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/parallel.h"

namespace heed::engine {
namespace {

/// Documents whose vectors are kept at a time: those of a document are large.
constexpr size_t kDocumentsAtATime = 256;

tasks::MultiVectorEmbedder embedder_of(const LoadedModel& model, const EmbedOptions& options) {
  return {*model.transformer, model.shared_tokenizer("reranking"), model.embedder_options(options)};
}

}  // namespace

bool reranks_by_max_sim(const LoadedModel& model) {
  return !model.transformer->config().classifier.present() &&
         !model.pair_settings.value().logit_score && model.embedding.has_value() &&
         model.embedding.value().multi_vector;
}

MaxSimScorer::MaxSimScorer(const LoadedModel& model, const ClassifyOptions& options)
    : queries_(embedder_of(model, {.prompt = options.prompt,
                                   .task = EmbedTask::query,
                                   .batch_tokens = options.batch_tokens})),
      documents_(embedder_of(model, {.task = EmbedTask::document,
                                     .max_seq_length = options.max_seq_length,
                                     .batch_tokens = options.batch_tokens})) {}

std::vector<double> MaxSimScorer::scores(const std::string& query,
                                         std::span<const std::string> documents,
                                         int64_t first_number) const {
  const MultiVectorEmbedding asked = queries_.embed({query}).front();
  std::vector<double> scores(documents.size());
  for (size_t begin = 0; begin < documents.size(); begin += kDocumentsAtATime) {
    const auto some =
        documents.subspan(begin, std::min(kDocumentsAtATime, documents.size() - begin));
    const int64_t first = first_number + static_cast<int64_t>(begin);
    const std::vector<MultiVectorEmbedding> vectors =
        documents_.embed({some.begin(), some.end()}, first);
    parallel_in_order(std::ssize(vectors), 1, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i)
        name_input("text", first + i, [&] {
          const auto own = static_cast<size_t>(i);
          scores[begin + own] = max_sim(asked, vectors[own]);
        });
    });
  }
  return scores;
}

}  // namespace heed::engine
