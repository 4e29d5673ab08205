// Ollama's embeddings: https://docs.ollama.com/api/embed
#include <chrono>

#include "heed/serve/embedding_call.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/routes/ollama_fields.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

using Vectors = std::vector<std::vector<float>>;

/// Embeds texts, which `field` names in errors, and responds with what `json_of` makes of all
/// vectors and the number of tokens.
void respond_with_vectors(const ModelCall& call, const std::vector<std::string>& texts,
                          bool truncate, const std::string& field,
                          std::function<Json(Vectors&, int64_t tokens)> json_of) {
  const Model& model = call.model();
  require_task(call.target, call.target.tasks.embed, "embed");
  std::vector<TokenizedText> input;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!truncate) refuse_overlong_text(model, texts[i], fmt::format("{}[{}]", field, i));
    input.push_back({model.tokens_to_embed(texts[i]), texts[i]});
  }
  const auto vectors = std::make_shared<Vectors>(texts.size());
  embed(
      call, std::move(input), truncate, field,
      [vectors](size_t number, std::vector<float> vector) {
        (*vectors)[number] = std::move(vector);
      },
      [vectors, answered = call.call, json_of = std::move(json_of)](int64_t tokens) {
        answered->respond_json(json_of(*vectors, tokens));
      });
}

}  // namespace

void post_ollama_embed(const ModelCall& call) {
  JsonFields fields = call.fields();
  fields.ignore({"model", "name", "keep_alive", "options"});
  const std::vector<std::string> texts = read_texts(fields, "input");
  const bool truncate = fields.boolean("truncate").value_or(true);
  const int64_t size = call.model().embedding_size();
  const auto dimensions = static_cast<size_t>(fields.integer("dimensions", 1, size).value_or(size));
  fields.end();
  const Call::Clock::time_point arrived = call.call->statistics().arrived;
  respond_with_vectors(
      call, texts, truncate, "input",
      [name = call.target.name, dimensions, arrived](Vectors& vectors, int64_t tokens) -> Json {
        for (std::vector<float>& vector : vectors) {
          vector.resize(std::min(vector.size(), dimensions));
          scale_to_unit_length(vector);
        }
        const auto total =
            std::chrono::duration_cast<std::chrono::nanoseconds>(Call::Clock::now() - arrived);
        return {{"model", name},
                {"embeddings", vectors},
                {"total_duration", total.count()},
                {"load_duration", 0},
                {"prompt_eval_count", tokens}};
      });
}

/// The older form: one text, and its vector as the model gives it.
void post_ollama_embeddings(const ModelCall& call) {
  JsonFields fields = call.fields();
  fields.ignore({"model", "name", "keep_alive", "options"});
  const std::string text = fields.required_text("prompt");
  fields.end();
  respond_with_vectors(call, {text}, true, "prompt", [](Vectors& vectors, int64_t /*tokens*/) {
    return Json{{"embedding", vectors.front()}};
  });
}

}  // namespace heed::serve
