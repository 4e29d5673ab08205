#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heed/engine/loaded_model.h"
#include "heed/tasks/multi_vector_embedder.h"

namespace heed::engine {

/// Whether rerank() compares vectors of tokens: the model makes them, and neither labels nor
/// answers are its scores.
bool reranks_by_max_sim(const LoadedModel& model);

/// Scores of documents for a query by late interaction: MaxSim (Khattab and Zaharia 2020) of the
/// vectors that Model::embed_multi_vector() makes of a query and of documents.
class MaxSimScorer {
 public:
  /// The model must outlive it. A max_seq_length of the options is that of documents. Throws Error
  /// as Model::embed_multi_vector() does.
  MaxSimScorer(const LoadedModel& model, const ClassifyOptions& options);

  /// The tokens of a document before they are truncated.
  int64_t count_tokens(const std::string& document) const {
    return documents_.reader().count_tokens(document);
  }
  /// The largest number that is read of a document; 0: not limited.
  int64_t max_tokens() const { return documents_.reader().max_tokens(); }

  /// A score for each document. Throws Error on a document without tokens or vectors, naming the
  /// first such (counted from `first_number`).
  std::vector<double> scores(const std::string& query, std::span<const std::string> documents,
                             int64_t first_number) const;

 private:
  tasks::MultiVectorEmbedder queries_, documents_;
};

}  // namespace heed::engine
