// OpenAI's list of models: https://platform.openai.com/docs/api-reference/models
#include <algorithm>

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
  if (!entry.aliases.empty()) model["aliases"] = entry.aliases;
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
  const std::vector<ModelRegistry::ModelInfo> models = services.models.list();
  for (const std::string& wanted : {name, std::string("*")})  // "*" answers to every name
    for (const ModelRegistry::ModelInfo& entry : models)
      if (entry.name == wanted || std::ranges::find(entry.aliases, wanted) != entry.aliases.end())
        return call.respond_json(model_json(entry));
  throw unknown_model(name);
}

// As llama.cpp's router: https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md

void post_load(const ModelCall& call) {
  JsonFields fields = call.fields();
  fields.required_text("model");
  fields.end();
  call.call->respond_json({{"success", true}});
}

void post_unload(Services& services, Call& call) {
  const Json body = body_of(call.request());
  JsonFields fields = fields_of(services, call, body);
  const std::string name = fields.required_text("model");
  fields.end();
  call.set_model(name);
  services.models.unload(name);
  call.respond_json({{"success", true}});
}

}  // namespace heed::serve
