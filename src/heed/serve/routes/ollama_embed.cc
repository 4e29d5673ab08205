// Ollama's embeddings: https://docs.ollama.com/api/embed
#include <chrono>

#include "heed/serve/embedding_call.h"
#include "heed/serve/routes/ollama_fields.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {

void post_ollama_embed(const ModelCall& call) {
  JsonFields fields = call.fields();
  fields.ignore({"model", "name", "keep_alive", "options"});
  const std::vector<std::string> texts = read_texts(fields, "input");
  const bool truncate = fields.boolean("truncate").value_or(true);
  const int64_t size = call.model().embedding_size();
  const auto dimensions = static_cast<size_t>(fields.integer("dimensions", 1, size).value_or(size));
  fields.end();
  embed(call, texts, truncate, "input",
        [name = call.target.name, dimensions](
            Call& answered, std::vector<std::vector<float>> vectors, int64_t tokens) {
          for (std::vector<float>& vector : vectors) {
            vector.resize(std::min(vector.size(), dimensions));
            scale_to_unit_length(vector);
          }
          const auto total = std::chrono::duration_cast<std::chrono::nanoseconds>(
              Call::Clock::now() - answered.statistics().arrived);
          answered.respond_json({{"model", name},
                                 {"embeddings", vectors},
                                 {"total_duration", total.count()},
                                 {"load_duration", 0},
                                 {"prompt_eval_count", tokens}});
        });
}

/// The older form: one text, and its vector as the model gives it.
void post_ollama_embeddings(const ModelCall& call) {
  JsonFields fields = call.fields();
  fields.ignore({"model", "name", "keep_alive", "options"});
  const std::string text = fields.required_text("prompt");
  fields.end();
  embed(call, {text}, true, "prompt",
        [](Call& answered, const std::vector<std::vector<float>>& vectors, int64_t /*tokens*/) {
          answered.respond_json({{"embedding", vectors.front()}});
        });
}

}  // namespace heed::serve
