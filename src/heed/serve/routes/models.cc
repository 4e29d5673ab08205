// OpenAI's list of models: https://platform.openai.com/docs/api-reference/models
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

Json model_json(const ModelRegistry::ModelInfo& entry) {
  Json model = {{"id", entry.name},
                {"object", "model"},
                {"created", 0},
                {"owned_by", "heed"},
                {"loaded", entry.loaded}};
  if (!entry.base.empty()) model["base"] = entry.base;
  if (!entry.loaded) return model;
  model["device"] = entry.device;
  model["context_length"] = entry.context_length;
  model["tasks"] = entry.tasks;
  if (!entry.languages.empty()) model["languages"] = entry.languages;
  if (!entry.source_languages.empty()) model["source_languages"] = entry.source_languages;
  return model;
}

}  // namespace

void get_models(Services& services, Call& call) {
  Json list = Json::array();
  for (const ModelRegistry::ModelInfo& entry : services.models.list())
    list.push_back(model_json(entry));
  call.respond_json({{"object", "list"}, {"data", std::move(list)}});
}

void get_model(Services& services, Call& call) {
  const std::string name = name_in_path(call);
  for (const ModelRegistry::ModelInfo& entry : services.models.list())
    if (entry.name == name) return call.respond_json(model_json(entry));
  throw unknown_model(name);
}

}  // namespace heed::serve
