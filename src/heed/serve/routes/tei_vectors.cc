// TEI's other kinds of vectors: https://huggingface.github.io/text-embeddings-inference
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "heed/serve/embedding_call.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/embedding_fields.h"
#include "heed/serve/routes/retrieval_fields.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

/// Texts to embed, and what is put before each.
struct TeiTexts {
  std::vector<std::string> texts;
  EmbedOptions options;
};

TeiTexts read_tei_texts(const ModelCall& call, JsonFields& fields) {
  const Model& model = call.model();
  const bool truncate = read_truncate(fields, false);
  read_truncation_direction(fields);
  TeiTexts read{.texts = {}, .options = {.prompt = read_prompt_name(fields, "prompt_name", model)}};
  read.texts = read_texts(fields, "inputs");
  const int64_t limit = model.max_embedded_tokens(read.options);
  for (size_t i = 0; !truncate && limit > 0 && i < read.texts.size(); ++i) {
    const std::string field = fmt::format("inputs[{}]", i);
    refuse_overlong_text(model, read.texts[i], field);
    const int64_t count = model.count_tokens_to_embed(read.texts[i], read.options);
    if (count > limit) throw input_too_long(field, count, limit);
  }
  return read;
}

/// Embeds texts in parts, as many at a time as take little time, and responds with what `json_of`
/// makes of each vector.
template <typename Embed, typename JsonOf>
void respond_in_parts(const ModelCall& call, TeiTexts read, Embed embed, JsonOf json_of) {
  struct State {
    TeiTexts input;
    Json answer = Json::array();
  };
  std::vector<int64_t> tokens;
  for (const std::string& text : read.texts)
    tokens.push_back(std::ssize(call.model().tokens_to_embed(text, read.options)));
  call.call->enqueue(call.services.admission, std::reduce(tokens.begin(), tokens.end()));
  const auto state = std::make_shared<State>(State{.input = std::move(read)});
  call.target.model->run_in_parts(
      call.call, tokens,
      [state, embed, json_of, served = call.target.model, answered = call.call](size_t begin,
                                                                                size_t end) {
        const auto& texts = state->input.texts;
        const std::vector<std::string> part(texts.begin() + static_cast<std::ptrdiff_t>(begin),
                                            texts.begin() + static_cast<std::ptrdiff_t>(end));
        for (const auto& one : embed(served->model(), part, state->input.options))
          state->answer.push_back(json_of(one));
        if (state->answer.size() == texts.size()) answered->respond_json(state->answer);
      });
}

Json sparse_json(const SparseEmbedding& embedding) {
  Json list = Json::array();
  for (size_t i = 0; i < embedding.indices.size(); ++i)
    list.push_back({{"index", embedding.indices[i]}, {"value", embedding.values[i]}});
  return list;
}

Json vectors_json(const MultiVectorEmbedding& embedding) {
  Json list = Json::array();
  for (auto row = embedding.values.begin(); row != embedding.values.end();
       row += embedding.dimension)
    list.push_back(std::vector<float>(row, row + embedding.dimension));
  return list;
}

double cosine(const std::vector<float>& first, const std::vector<float>& second) {
  double product = 0, length = 0, other = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    const auto a = static_cast<double>(first[i]), b = static_cast<double>(second[i]);
    product += a * b;
    length += a * a;
    other += b * b;
  }
  return product / std::max(std::sqrt(length) * std::sqrt(other), 1e-12);
}

}  // namespace

void post_tei_embed_sparse(const ModelCall& call) {
  require_task(call.target, call.target.tasks.embed_sparse, "embed sparsely");
  JsonFields fields = call.fields();
  fields.ignore({"model"});
  TeiTexts read = read_tei_texts(call, fields);
  fields.end();
  respond_in_parts(
      call, std::move(read),
      [](const Model& model, const std::vector<std::string>& texts, const EmbedOptions& options) {
        return model.embed_sparse(texts, options);
      },
      sparse_json);
}

void post_tei_embed_all(const ModelCall& call) {
  require_task(call.target, call.target.tasks.embed || call.target.tasks.embed_multi_vector,
               "embed");
  JsonFields fields = call.fields();
  fields.ignore({"model"});
  TeiTexts read = read_tei_texts(call, fields);
  fields.end();
  respond_in_parts(
      call, std::move(read),
      [](const Model& model, const std::vector<std::string>& texts, const EmbedOptions& options) {
        return model.token_embeddings(texts, options);
      },
      vectors_json);
}

void post_tei_similarity(const ModelCall& call) {
  const Model& model = call.model();
  require_task(call.target, call.target.tasks.embed, "embed");
  JsonFields fields = call.fields();
  fields.ignore({"model"});
  JsonFields inputs = fields.inner("inputs");
  std::vector<std::string> texts = read_texts(inputs, "sentences");
  texts.insert(texts.begin(), inputs.required_text("source_sentence"));
  inputs.end();
  const Json none = Json::object();
  const Json* const given = fields.find("parameters");
  JsonFields parameters = fields.inner(given ? *given : none, fields.path_of("parameters"));
  const bool truncate = read_truncate(parameters, false);
  read_truncation_direction(parameters);
  const std::string prompt = read_prompt_name(parameters, "prompt_name", model);
  parameters.end();
  fields.end();
  embed_and_respond(call, read_to_embed(model, texts, prompt, truncate, "inputs"), truncate,
                    "inputs", [](std::vector<std::vector<float>>& vectors, int64_t /*tokens*/) {
                      Json list = Json::array();
                      for (size_t i = 1; i < vectors.size(); ++i)
                        list.push_back(cosine(vectors.front(), vectors[i]));
                      return list;
                    });
}

}  // namespace heed::serve
