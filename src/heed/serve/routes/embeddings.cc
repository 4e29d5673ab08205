// OpenAI's embeddings: https://platform.openai.com/docs/api-reference/embeddings
#include <bit>

#include "heed/base/base64.h"
#include "heed/base/json.h"
#include "heed/serve/embedding_call.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

/// The vectors of a call, as they are asked for.
struct Embeddings {
  bool base64 = false;
  size_t dimensions = 0;
  std::vector<std::string> vectors = {};  // as JSON

  void add(size_t number, std::vector<float> vector) {
    shorten(vector, dimensions);
    if (base64) {
      static_assert(std::endian::native == std::endian::little);
      vectors[number] = '"' +
                        encode_base64({reinterpret_cast<const char*>(vector.data()),
                                       vector.size() * sizeof(float)}) +
                        '"';
    } else {
      vectors[number] = dump_json(nlohmann::json(vector));
    }
  }

  std::string response(const std::string& model, int64_t tokens) const {
    std::string body = R"({"object":"list","data":[)";
    for (size_t i = 0; i < vectors.size(); ++i)
      body += fmt::format(R"({}{{"object":"embedding","index":{},"embedding":{}}})",
                          i == 0 ? "" : ",", i, vectors[i]);
    return body + fmt::format(R"(],"model":{},"usage":{}}})", dump_json(Json(model)),
                              dump_json(usage_json(tokens)));
  }
};

}  // namespace

void post_embeddings(const ModelCall& call) {
  const Model& model = call.model();
  require_task(call.target, call.target.tasks.embed, "embed");
  JsonFields fields = call.fields();
  fields.ignore({"model", "user"});
  const bool truncate = fields.boolean("truncate").value_or(false) ||
                        fields.integer("truncate_prompt_tokens", -1, -1).has_value();
  std::vector<TokenizedText> input = read_texts_or_tokens(
      fields, "input", model, [&](const std::string& text, const std::string& field) {
        if (!truncate) refuse_overlong_text(model, text, field);
        return model.tokens_to_embed(text);
      });
  auto state = std::make_shared<Embeddings>();
  state->base64 = fields.one_of("encoding_format", {"float", "base64"}) == "base64";
  state->dimensions = static_cast<size_t>(
      fields.integer("dimensions", 1, model.embedding_size()).value_or(model.embedding_size()));
  fields.end();

  state->vectors.resize(input.size());
  embed(
      call, std::move(input), truncate, "input",
      [state](size_t number, std::vector<float> vector) { state->add(number, std::move(vector)); },
      [state, answered = call.call, name = call.target.name](int64_t tokens) {
        answered->respond({.body = state->response(name, tokens)});
      });
}

}  // namespace heed::serve
