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
  std::string name;
  VectorForm form;
};

std::vector<NamedForm> read_types(JsonFields& fields, const ModelCall& call) {
  constexpr std::array kNames{"float", "base64", "int8", "uint8", "binary", "ubinary"};
  const size_t dimensions = read_dimensions(fields, "output_dimension", call.model());
  std::vector<std::string> names =
      fields.texts("embedding_types").value_or(std::vector<std::string>());
  if (names.empty()) names.emplace_back("float");
  std::vector<NamedForm> types;
  for (const std::string& name : names) {
    if (std::ranges::find(kNames, name) == kNames.end())
      throw invalid_request("embedding_types",
                            fmt::format("embedding_types are {}", fmt::join(kNames, ", ")));
    VectorForm& form = types.emplace_back(NamedForm{name, {}}).form;
    form.dimensions = dimensions;
    form.precision = precision_named(name);
    form.base64 = name == "base64";
    set_ranges(form, call, "embedding_types");
  }
  return types;
}

Json embeddings_json(const std::vector<std::vector<float>>& vectors,
                     const std::vector<NamedForm>& types) {
  Json embeddings = Json::object();
  for (const NamedForm& type : types) {
    Json list = Json::array();
    for (const std::vector<float>& vector : vectors) list.push_back(type.form.json(vector));
    embeddings[type.name] = std::move(list);
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
  const std::vector<NamedForm> types = read_types(fields, call);
  for (const char* name : {"images", "inputs", "max_tokens"}) fields.only(name, Json());
  fields.end();
  embed_and_respond(call, read_to_embed(model, texts, prompt, truncate, "texts"), truncate, "texts",
                    [types, texts, id = call.call->request().id](
                        std::vector<std::vector<float>>& vectors, int64_t tokens) -> Json {
                      return {{"response_type", "embeddings_by_type"},
                              {"id", fmt::format("embed-{}", id)},
                              {"embeddings", embeddings_json(vectors, types)},
                              {"texts", texts},
                              {"meta", cohere_meta(tokens)}};
                    });
}

}  // namespace heed::serve
