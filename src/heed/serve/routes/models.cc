// OpenAI's list of models: https://platform.openai.com/docs/api-reference/models
#include "heed/base/json.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {

void get_models(Services& services, Call& call) {
  Json list = Json::array();
  for (const ModelRegistry::Entry& entry : services.models.list()) {
    Json model = {{"id", entry.name},
                  {"object", "model"},
                  {"created", 0},
                  {"owned_by", "heed"},
                  {"loaded", entry.loaded}};
    if (!entry.base.empty()) model["base"] = entry.base;
    if (entry.loaded) {
      model["context_length"] = entry.context_length;
      model["tasks"] = entry.tasks;
      if (!entry.languages.empty()) model["languages"] = entry.languages;
      if (!entry.source_languages.empty()) model["source_languages"] = entry.source_languages;
    }
    list.push_back(std::move(model));
  }
  call.respond_json(dump_json(Json{{"object", "list"}, {"data", list}}));
}

}  // namespace heed::serve
