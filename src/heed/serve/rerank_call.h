#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heed/serve/services.h"

namespace heed::serve {

/// What an API asks of a reranker.
struct RerankInput {
  std::string query;
  std::vector<std::string> documents;
  std::string field = "documents";  // of the documents, in errors
  bool truncate = false;            // cuts what the model does not read, instead of refusing it
  int64_t max_document_tokens = 0;  // longer documents are cut to these; 0: not limited
  bool logits = false;              // as scores, instead of those of Model::rerank()
};

/// The documents by how well they answer the query.
struct Ranking {
  std::vector<RankedDocument> documents;  // best first
  int64_t tokens = 0;                     // of all pairs, as the model has read them
  int64_t cut = 0;                        // documents of which it has read less than all
};
/// Receives the ranking, on the compute thread.
using OnRanked = std::function<void(const Ranking&)>;

/// Ranks documents. Throws ApiError when the model is no reranker, when a pair is too long, and as
/// Call::enqueue().
void rerank(const ModelCall& call, RerankInput input, OnRanked done);

}  // namespace heed::serve
