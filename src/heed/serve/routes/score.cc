#include "heed/serve/generation_call.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/routes.h"
#include "heed/serve/token_text.h"

namespace heed::serve {
namespace {

Json score_json(const Model& model, const std::string& name, const Score& score,
                int64_t source_tokens) {
  // The scores belong to the last tokens; the first token of a text has none.
  const size_t unscored = score.tokens.size() - score.log_probabilities.size();
  Json tokens = Json::array();
  for (size_t i = 0; i < score.tokens.size(); ++i)
    tokens.push_back(
        {{"token", score.tokens[i]},
         {"text", text_of_bytes(model.token_bytes(score.tokens[i]))},
         {"log_probability", i < unscored ? Json() : Json(score.log_probabilities[i - unscored])}});
  return {{"model", name},
          {"tokens", std::move(tokens)},
          {"log_probability", score.log_probability()},
          {"perplexity", score.perplexity()},
          {"usage", usage_json(std::ssize(score.tokens) + source_tokens)}};
}

}  // namespace

/// The log-probability of a text, or of a target given its source.
void post_score(const ModelCall& call) {
  const Model& model = call.model();
  require_task(call.target, call.target.tasks.score, "score");
  JsonFields fields = call.fields();
  fields.ignore({"model"});
  const bool pair = model.has_encoder();
  const std::string source = pair ? fields.required_text("source") : "";
  const std::string text = fields.required_text(pair ? "target" : "text");
  for (const char* const other : {"text", "source", "target"})
    if (pair == (other == std::string_view("text")) && fields.find(other))
      throw invalid_request(other,
                            fmt::format("{} is given, but {} scores {}", other, call.target.name,
                                        pair ? "a target given its source" : "a text alone"));
  fields.end();
  const int64_t source_tokens = pair ? count_tokens(model, source, "source") : 0;
  const int64_t tokens = count_tokens(model, text, pair ? "target" : "text") + source_tokens;
  call.respond_with(tokens,
                    [name = call.target.name, pair, source, text, source_tokens](const Model& own) {
                      const Score score = pair ? own.score_pair(source, text) : own.score(text);
                      return score_json(own, name, score, source_tokens);
                    });
}

}  // namespace heed::serve
