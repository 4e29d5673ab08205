#include "heed/serve/routes/retrieval_fields.h"

#include <algorithm>

namespace heed::serve {
namespace {

bool can(const ModelRegistry::ModelInfo& model, std::string_view task) {
  return std::ranges::find(model.tasks, task) != model.tasks.end();
}

/// Almost all models can embed.
bool embeds_only(const ModelRegistry::ModelInfo& model) {
  return can(model, "embed") && !can(model, "generate") && !can(model, "classify");
}

std::string only_model(const Services& services, std::string named,
                       const std::function<bool(const ModelRegistry::ModelInfo&)>& fits) {
  if (!named.empty()) return named;
  std::vector<std::string> names;
  for (const ModelRegistry::ModelInfo& model : services.models.list())
    if (model.loaded && model.base.empty() && fits(model)) names.push_back(model.name);
  return names.size() == 1 ? names.front() : "";
}

}  // namespace

std::string choose_embedder(const Services& services, const Json& /*body*/, std::string named) {
  return only_model(services, std::move(named), embeds_only);
}

std::string choose_sparse_embedder(const Services& services, const Json& /*body*/,
                                   std::string named) {
  return only_model(services, std::move(named), [](const ModelRegistry::ModelInfo& model) {
    return can(model, "embed_sparse");
  });
}

std::string choose_token_embedder(const Services& services, const Json& /*body*/,
                                  std::string named) {
  return only_model(services, std::move(named), [](const ModelRegistry::ModelInfo& model) {
    return embeds_only(model) || can(model, "embed_multi_vector");
  });
}

/// Rather a model that does nothing else than one with a vector for each token.
std::string choose_reranker(const Services& services, const Json& /*body*/, std::string named) {
  std::string name = only_model(services, named, [](const ModelRegistry::ModelInfo& model) {
    return can(model, "rerank") && !can(model, "embed_multi_vector");
  });
  if (!name.empty()) return name;
  return only_model(services, std::move(named),
                    [](const ModelRegistry::ModelInfo& model) { return can(model, "rerank"); });
}

std::string choose_classifier(const Services& services, const Json& /*body*/, std::string named) {
  return only_model(services, std::move(named), [](const ModelRegistry::ModelInfo& model) {
    return can(model, "classify") && !can(model, "rerank");
  });
}

std::string choose_tei_model(const Services& services, const Json& body, std::string named) {
  if (body.contains("query")) return choose_reranker(services, body, std::move(named));
  for (const ModelChooser choose : {choose_embedder, choose_sparse_embedder, choose_classifier})
    if (named.empty()) named = choose(services, body, named);
  return named;
}

bool read_truncate(JsonFields& fields, bool otherwise) {
  bool truncate = otherwise;
  for (const char* name : {"truncate", "truncation"})
    truncate = fields.boolean(name).value_or(truncate);
  return fields.integer("truncate_prompt_tokens", -1, -1).has_value() || truncate;
}

void read_truncation_direction(JsonFields& fields) {
  fields.one_of("truncation_direction", {"Right", "right"});
}

Json cohere_meta(int64_t tokens) {
  return {{"api_version", {{"version", "2"}}},
          {"tokens", {{"input_tokens", tokens}, {"output_tokens", 0}}}};
}

}  // namespace heed::serve
