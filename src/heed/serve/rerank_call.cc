#include "heed/serve/rerank_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "heed/base/interrupt.h"
#include "heed/serve/classified_tokens.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/prompts.h"

namespace heed::serve {
namespace {

/// The documents that are being scored.
struct RankedCall {
  RerankInput input;
  Ranking ranking;
  OnRanked done;

  /// Scores documents [begin, end), on the compute thread.
  void score(const Model& model, size_t begin, size_t end) {
    const auto first = input.documents.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = input.documents.begin() + static_cast<std::ptrdiff_t>(end);
    const std::vector<std::string> part{first, last};
    for (const double score : input.logits ? model.document_logits(input.query, part)
                                           : model.document_scores(input.query, part))
      ranking.documents.push_back({std::ssize(ranking.documents), score});
    if (ranking.documents.size() < input.documents.size()) return;
    std::ranges::stable_sort(ranking.documents, std::greater(), &RankedDocument::score);
    done(ranking);
  }
};

/// Cuts the texts as the request has it, and returns the tokens of each pair that the model reads.
std::vector<int64_t> read_pairs(const Model& model, RerankInput& input, Ranking& ranking) {
  const Tokenizer tokenizer = model.tokenizer("reranking");
  if (input.truncate)
    input.query = without_unread_end(model, tokenizer, std::move(input.query));
  else
    count_tokens(model, input.query, "query");  // if it is too long, no document is to blame
  std::vector<int64_t> tokens;
  for (std::string& document : input.documents) {
    check_interrupted();
    const std::string field = fmt::format("{}[{}]", input.field, tokens.size());
    const size_t bytes = document.size();
    if (input.max_document_tokens > 0)
      document = first_tokens(tokenizer, std::move(document), input.max_document_tokens);
    if (input.truncate)
      document = without_unread_end(model, tokenizer, std::move(document));
    else
      refuse_overlong_text(model, document, field);
    const int64_t whole = model.count_tokens_to_rerank(input.query, document);
    tokens.push_back(tokens_read(model, whole, input.truncate, field));
    ranking.tokens += tokens.back();
    if (document.size() < bytes || tokens.back() < whole) ++ranking.cut;
  }
  return tokens;
}

}  // namespace

void rerank(const ModelCall& call, RerankInput input, OnRanked done) {
  require_task(call.target, call.target.tasks.rerank, "rerank");
  check_list_length(input.documents.size(), input.field);
  const auto state = std::make_shared<RankedCall>(
      RankedCall{.input = std::move(input), .ranking = {}, .done = std::move(done)});
  const std::vector<int64_t> tokens = read_pairs(call.model(), state->input, state->ranking);
  call.call->enqueue(call.services.admission, state->ranking.tokens);
  call.target.model->run_in_parts(call.call, tokens,
                                  [state, model = call.target.model](size_t begin, size_t end) {
                                    state->score(model->model(), begin, end);
                                  });
}

}  // namespace heed::serve
