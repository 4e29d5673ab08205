// Cohere's embeddings: https://docs.cohere.com/reference/embed
#include <algorithm>
#include <array>

#include "heed/serve/embedding_call.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/routes/embedding_fields.h"
#include "heed/serve/routes/retrieval_fields.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

struct NamedForm {
  std::string_view name;
  VectorNumbers numbers;
  bool base64 = false;
};

/// int8 and uint8 would depend on the other texts of a call, or on numbers that models do not have.
constexpr std::array kForms{
    NamedForm{"float", VectorNumbers::floats}, NamedForm{"base64", VectorNumbers::floats, true},
    NamedForm{"binary", VectorNumbers::binary}, NamedForm{"ubinary", VectorNumbers::ubinary}};

std::vector<NamedForm> read_types(JsonFields& fields) {
  const auto names = fields.texts("embedding_types");
  if (!names || names->empty()) return {kForms.front()};
  std::vector<NamedForm> types;
  for (const std::string& name : *names) {
    const auto* const form = std::ranges::find(kForms, name, &NamedForm::name);
    if (form == kForms.end())
      throw invalid_request("embedding_types",
                            "embedding_types are float, base64, binary or ubinary here");
    types.push_back(*form);
  }
  return types;
}

Json embeddings_json(const std::vector<std::vector<float>>& vectors,
                     const std::vector<NamedForm>& types, size_t dimensions) {
  Json embeddings = Json::object();
  for (const NamedForm& type : types) {
    const VectorForm form{.dimensions = dimensions, .numbers = type.numbers, .base64 = type.base64};
    Json list = Json::array();
    for (const std::vector<float>& vector : vectors) list.push_back(form.json(vector));
    embeddings[std::string(type.name)] = std::move(list);
  }
  return embeddings;
}

}  // namespace

void post_cohere_embed(const ModelCall& call) {
  const Model& model = call.model();
  require_task(call.target, call.target.tasks.embed, "embed");
  JsonFields fields = call.fields();
  fields.ignore({"model", "priority"});
  fields.one_of("input_type", {"search_document", "search_query", "classification", "clustering"});
  const std::string prompt = read_text_purpose(fields, "input_type", model);
  const std::vector<std::string> texts = read_texts(fields, "texts");
  const bool truncate = fields.one_of("truncate", {"END", "NONE"}) == "END";
  const std::vector<NamedForm> types = read_types(fields);
  const size_t dimensions = read_dimensions(fields, "output_dimension", model);
  for (const char* name : {"images", "inputs", "max_tokens"}) fields.only(name, Json());
  fields.end();
  embed_and_respond(call, read_to_embed(model, texts, prompt, truncate, "texts"), truncate, "texts",
                    [types, dimensions, texts, id = call.call->request().id](
                        std::vector<std::vector<float>>& vectors, int64_t tokens) -> Json {
                      return {{"response_type", "embeddings_by_type"},
                              {"id", fmt::format("embed-{}", id)},
                              {"embeddings", embeddings_json(vectors, types, dimensions)},
                              {"texts", texts},
                              {"meta", cohere_meta(tokens)}};
                    });
}

}  // namespace heed::serve
