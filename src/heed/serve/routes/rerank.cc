// The shape of Jina's and Cohere's rerankers.
#include <algorithm>

#include "heed/serve/generation_call.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

constexpr int64_t kPartTokens = 2048;  // computed before others get their turn

struct RerankCall {
  std::shared_ptr<Call> call;
  ModelRegistry::Target target;
  std::string query;
  std::vector<std::string> documents;
  size_t top_n = 0;
  bool return_documents = false;
  int64_t tokens = 0;
  std::vector<RankedDocument> ranked = {};

  /// Scores documents [begin, end), on the compute thread.
  void score(size_t begin, size_t end) {
    const auto first = documents.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = documents.begin() + static_cast<std::ptrdiff_t>(end);
    for (RankedDocument one : target.model->model().rerank(query, {first, last})) {
      one.index += static_cast<int64_t>(begin);
      ranked.push_back(one);
    }
    if (ranked.size() == documents.size()) respond();
  }

  void respond() {
    std::ranges::sort(ranked, {}, &RankedDocument::index);
    std::ranges::stable_sort(ranked, std::greater(), &RankedDocument::score);
    ranked.resize(std::min(ranked.size(), top_n));
    Json results = Json::array();
    for (const auto& [index, score] : ranked) {
      Json result = {{"index", index}, {"relevance_score", score}};
      if (return_documents) result["document"] = {{"text", documents[static_cast<size_t>(index)]}};
      results.push_back(std::move(result));
    }
    call->respond_json({{"id", fmt::format("rerank-{}", call->request().id)},
                        {"model", target.name},
                        {"results", std::move(results)},
                        {"usage", usage_json(tokens)}});
  }
};

/// Texts, or objects with a member "text".
std::vector<std::string> read_documents(JsonFields& fields) {
  const Json& list = fields.require("documents");
  const bool objects = list.is_array() && !list.empty() && list.front().is_object();
  if (!objects) return read_texts(fields, "documents");
  check_list_length(list.size(), fields.path_of("documents"));
  std::vector<std::string> documents;
  for (size_t i = 0; i < list.size(); ++i)
    documents.push_back(JsonFields(list[i], fmt::format("documents[{}]", i)).required_text("text"));
  return documents;
}

}  // namespace

void post_rerank(const ModelCall& call) {
  const Model& model = call.model();
  require_task(call.target, call.target.tasks.rerank, "rerank");
  JsonFields fields = call.fields();
  fields.ignore({"model", "user"});
  auto state = std::make_shared<RerankCall>(RerankCall{.call = call.call,
                                                       .target = call.target,
                                                       .query = fields.required_text("query"),
                                                       .documents = read_documents(fields)});
  state->top_n = static_cast<size_t>(
      fields.integer("top_n", 1, INT32_MAX).value_or(std::ssize(state->documents)));
  state->return_documents = fields.boolean("return_documents").value_or(false);
  fields.only("rank_fields", Json());
  fields.end();

  count_tokens(model, state->query, "query");  // if it is too long, no document is to blame
  const Tokenizer tokenizer = model.tokenizer("reranking");
  std::vector<int64_t> tokens;
  for (size_t i = 0; i < state->documents.size(); ++i) {
    refuse_overlong_text(model, state->documents[i], fmt::format("documents[{}]", i));
    tokens.push_back(std::ssize(tokenizer.encode_pair(state->query, state->documents[i]).ids));
    if (const int64_t limit = model.context_length(); limit > 0 && tokens.back() > limit)
      throw context_length_exceeded(fmt::format("documents[{}]", i), tokens.back(), limit);
    state->tokens += tokens.back();
  }
  call.call->enqueue(call.services.admission, state->tokens);
  for (size_t begin = 0; begin < tokens.size();) {
    size_t end = begin;
    int64_t part = 0;
    while (end < tokens.size() && (end == begin || part + tokens[end] <= kPartTokens))
      part += tokens[end++];
    call.target.model->run(call.call, part, [state, begin, end] { state->score(begin, end); });
    begin = end;
  }
}

}  // namespace heed::serve
