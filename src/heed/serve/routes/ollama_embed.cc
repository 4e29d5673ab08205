// Ollama's embeddings: https://docs.ollama.com/api/embed
#include <chrono>

#include "heed/serve/embedding_call.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/routes/embedding_fields.h"
#include "heed/serve/routes/ollama_fields.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

using Vectors = std::vector<std::vector<float>>;

}  // namespace

void post_ollama_embed(const ModelCall& call) {
  require_task(call.target, call.target.tasks.embed, "embed");
  JsonFields fields = call.fields();
  fields.ignore({"model", "name", "keep_alive", "options"});
  const std::vector<std::string> texts = read_texts(fields, "input");
  const bool truncate = fields.boolean("truncate").value_or(true);
  const size_t dimensions = read_dimensions(fields, "dimensions", call.model());
  fields.end();
  const Call::Clock::time_point arrived = call.call->statistics().arrived;
  embed_and_respond(
      call,
      read_to_embed(call.model(), texts, call.model().embed_settings().prompt, truncate, "input"),
      truncate, "input",
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
  require_task(call.target, call.target.tasks.embed, "embed");
  JsonFields fields = call.fields();
  fields.ignore({"model", "name", "keep_alive", "options"});
  const std::string text = fields.required_text("prompt");
  fields.end();
  embed_and_respond(
      call,
      read_to_embed(call.model(), {text}, call.model().embed_settings().prompt, true, "prompt"),
      true, "prompt", [](Vectors& vectors, int64_t /*tokens*/) {
        return Json{{"embedding", vectors.front()}};
      });
}

}  // namespace heed::serve
