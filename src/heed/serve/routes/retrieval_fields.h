#pragma once

#include <string>

#include "heed/serve/services.h"

namespace heed::serve {

/// Whether texts that are too long are cut instead of refused: "truncate", "truncation" and
/// "truncate_prompt_tokens": -1, of which the last one counts.
bool read_truncate(JsonFields& fields, bool otherwise);

/// "truncation_direction" of TEI: heed cuts the end.
void read_truncation_direction(JsonFields& fields);

/// "meta" of an answer in the form of Cohere's second API.
Json cohere_meta(int64_t tokens);

// ModelChooser for clients that name no model, since TEI serves one: the only loaded model that is
// for the task, if there is one.
std::string choose_embedder(const Services& services, const Json& body, std::string named);
std::string choose_sparse_embedder(const Services& services, const Json& body, std::string named);
std::string choose_token_embedder(const Services& services, const Json& body, std::string named);
std::string choose_reranker(const Services& services, const Json& body, std::string named);
std::string choose_classifier(const Services& services, const Json& body, std::string named);
/// For the path "/": a reranker for a query; otherwise an embedder, or else a sparse one or a
/// classifier.
std::string choose_tei_model(const Services& services, const Json& body, std::string named);

}  // namespace heed::serve
