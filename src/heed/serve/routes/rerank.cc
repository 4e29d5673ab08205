// Rerankers as Jina, Cohere, Voyage and TEI (Text Embeddings Inference) have them:
// https://api.jina.ai/redoc, https://docs.cohere.com/reference/rerank,
// https://docs.voyageai.com/reference/reranker-api,
// https://huggingface.github.io/text-embeddings-inference
#include <algorithm>
#include <cmath>

#include "heed/serve/generation_call.h"
#include "heed/serve/rerank_call.h"
#include "heed/serve/routes/retrieval_fields.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

/// The results of an answer in the forms of Jina, Cohere and Voyage.
struct Results {
  size_t top = 0;            // how many at most
  Json documents = nullptr;  // as they are returned; null: they are not
  bool plain_texts = false;  // documents are texts, not objects with a "text"

  Json of(const Ranking& ranking) const {
    Json results = Json::array();
    for (const auto& [index, score] : ranking.documents) {
      if (results.size() == top) break;
      Json result = {{"index", index}, {"relevance_score", score}};
      if (!documents.is_null()) result["document"] = document(static_cast<size_t>(index));
      results.push_back(std::move(result));
    }
    return results;
  }

 private:
  Json document(size_t index) const {
    const Json& given = documents[index];
    if (plain_texts) return given.is_object() ? given["text"] : given;
    return given.is_object() ? given : Json{{"text", given}};
  }
};

/// Texts, or objects with a member "text".
std::vector<std::string> read_documents(JsonFields& fields) {
  const Json& list = fields.require("documents");
  const bool objects = list.is_array() && !list.empty() && list.front().is_object();
  if (!objects) return read_texts(fields, "documents");
  std::vector<std::string> documents;
  for (size_t i = 0; i < list.size(); ++i)
    documents.push_back(JsonFields(list[i], fmt::format("documents[{}]", i)).required_text("text"));
  return documents;
}

/// Reads the fields that Jina, Cohere and Voyage have in common. Cohere's chunks of a document are
/// scored one by one; heed reads the first one only.
RerankInput read_ranked_documents(JsonFields& fields) {
  fields.ignore({"model"});
  RerankInput input{.query = fields.required_text("query"), .documents = read_documents(fields)};
  input.max_document_tokens = fields.integer("max_tokens_per_doc", 1, INT32_MAX).value_or(0);
  input.truncate = true;
  return input;
}

size_t read_top(JsonFields& fields, std::string_view name, const RerankInput& input) {
  return static_cast<size_t>(
      fields.integer(name, 1, INT32_MAX).value_or(std::ssize(input.documents)));
}

/// The fields of TEI's form, which the others do not have.
void refuse_tei_fields(JsonFields& fields) {
  fields.only("raw_scores", false);
  fields.only("return_text", false);
  read_truncation_direction(fields);
}

/// Jina's and Cohere's first form; Voyage's where a request has its fields.
void rank_documents(const ModelCall& call, JsonFields& fields) {
  fields.ignore({"user", "priority"});
  RerankInput input = read_ranked_documents(fields);
  const bool voyage = fields.find("top_k") || fields.find("truncation");
  if (voyage) call.call->error_body = detail_error_body;
  const char* const top = fields.find("top_k") ? "top_k" : "top_n";
  Results results{.top = read_top(fields, top, input), .plain_texts = voyage};
  fields.only(fields.find("top_k") ? "top_n" : "top_k", Json());
  input.truncate = read_truncate(fields, input.truncate);
  if (fields.boolean("return_documents").value_or(false)) {
    const Json& documents = fields.require("documents");
    results.documents = documents.is_array() ? documents : Json::array({documents});
  }
  fields.only("rank_fields", Json({"text"}));
  fields.only("max_chunks_per_doc", 1);
  refuse_tei_fields(fields);
  fields.end();
  rerank(call, std::move(input),
         [results = std::move(results), voyage, answered = call.call,
          name = call.target.name](const Ranking& ranking) {
           Json body = {{"id", fmt::format("rerank-{}", answered->request().id)},
                        {"object", "list"},
                        {"model", name}};
           body[voyage ? "data" : "results"] = results.of(ranking);
           body["usage"] = usage_json(ranking.tokens);
           answered->respond_json(body);
         });
}

Json tei_ranks(const Ranking& ranking, size_t top, const std::vector<std::string>& texts,
               bool raw) {
  Json ranks = Json::array();
  for (const auto& [index, logit] : ranking.documents) {
    if (ranks.size() == top) break;
    Json rank = {{"index", index}, {"score", raw ? logit : 1 / (1 + std::exp(-logit))}};
    if (!texts.empty()) rank["text"] = texts[static_cast<size_t>(index)];
    ranks.push_back(std::move(rank));
  }
  return ranks;
}

/// TEI's form, with "texts"; "top_n" is llama.cpp's.
void rank_texts(const ModelCall& call, JsonFields& fields) {
  call.call->error_body = tei_error_body;
  fields.ignore({"model", "user", "priority"});
  for (const char* name : {"documents", "top_k", "return_documents", "rank_fields",
                           "max_tokens_per_doc", "max_chunks_per_doc"})
    fields.only(name, Json());
  RerankInput input{.query = fields.required_text("query"),
                    .documents = read_texts(fields, "texts"),
                    .field = "texts",
                    .truncate = read_truncate(fields, false),
                    .logits = true};
  read_truncation_direction(fields);
  const size_t top = read_top(fields, "top_n", input);
  // Sums have no sigmoid.
  const bool raw =
      fields.boolean("raw_scores").value_or(false) || call.model().reranks_by_max_sim();
  std::vector<std::string> returned;
  if (fields.boolean("return_text").value_or(false)) returned = input.documents;
  fields.end();
  rerank(call, std::move(input),
         [top, raw, returned = std::move(returned), answered = call.call](const Ranking& ranking) {
           answered->respond_json(tei_ranks(ranking, top, returned, raw));
         });
}

}  // namespace

void post_rerank(const ModelCall& call) {
  JsonFields fields = call.fields();
  if (fields.find("texts")) return rank_texts(call, fields);
  rank_documents(call, fields);
}

/// Cohere's second form.
void post_cohere_rerank(const ModelCall& call) {
  JsonFields fields = call.fields();
  RerankInput input = read_ranked_documents(fields);
  fields.ignore({"priority"});
  fields.only("relevant_spans", Json());
  const Results results{.top = read_top(fields, "top_n", input)};
  fields.end();
  rerank(call, std::move(input), [results, answered = call.call](const Ranking& ranking) {
    Json meta = cohere_meta(ranking.tokens);
    if (ranking.cut > 0)
      meta["warnings"] = {
          fmt::format("{} of the documents were cut to what the model reads or to "
                      "max_tokens_per_doc",
                      ranking.cut)};
    answered->respond_json({{"id", fmt::format("rerank-{}", answered->request().id)},
                            {"results", results.of(ranking)},
                            {"meta", std::move(meta)}});
  });
}

}  // namespace heed::serve
