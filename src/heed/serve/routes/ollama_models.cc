// What Ollama's API says of models: https://docs.ollama.com/api/tags
#include <map>

#include "heed/serve/routes/ollama_fields.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

/// The version of Ollama whose API this is: clients ask whether it is new enough.
constexpr const char* kOllamaApi = "0.12.0";

Json details_json(const std::string& family) {
  return {{"parent_model", ""},   {"format", ""},
          {"family", family},     {"families", Json::array({family})},
          {"parameter_size", ""}, {"quantization_level", ""}};
}

/// An entry of a list. Ollama's digests and sizes are those of its own store; heed has none, and
/// its clients cannot do without.
Json entry_json(const std::string& name, const std::string& family) {
  return {{"name", name},
          {"model", name},
          {"size", 0},
          {"digest", std::string(64, '0')},
          {"details", details_json(family)}};
}

/// What a model can do, in Ollama's words.
std::vector<std::string> capabilities_of(const ModelRegistry::Target& target) {
  std::vector<std::string> names;
  const Model& model = target.model->model();
  if (target.tasks.embed && !target.tasks.generate) names.emplace_back("embedding");
  if (target.tasks.generate) names.emplace_back("completion");
  if (!target.tasks.chat) return names;
  names.emplace_back("tools");
  const AnswerFormat answer = model.chat_prompt({{.role = "user", .content = "?"}}).answer;
  if (answer.channels || !answer.reasoning_end.empty()) names.emplace_back("thinking");
  return names;
}

}  // namespace

void get_ollama_version(Services& /*services*/, Call& call) {
  call.respond_json({{"version", kOllamaApi}});
}

void get_ollama_tags(Services& services, Call& call) {
  std::map<std::string, std::string> families;
  for (const ModelRegistry::Target& target : services.models.loaded())
    families[target.name] = target.model->model().family();
  Json models = Json::array();
  for (const ModelRegistry::ModelInfo& model : services.models.list())
    models.push_back(
        entry_json(model.name, families[model.base.empty() ? model.name : model.base]));
  call.respond_json({{"models", std::move(models)}});
}

void get_ollama_ps(Services& services, Call& call) {
  Json models = Json::array();
  for (const ModelRegistry::Target& target : services.models.loaded()) {
    const Model& model = target.model->model();
    Json entry = entry_json(target.name, model.family());
    entry["size_vram"] = 0;
    entry["context_length"] = model.context_length();
    models.push_back(std::move(entry));
  }
  call.respond_json({{"models", std::move(models)}});
}

void post_ollama_show(const ModelCall& call) {
  JsonFields fields = call.fields();
  fields.ignore({"model", "name", "verbose"});
  fields.only("system", "");
  fields.only("template", "");
  fields.only("options", Json::object());
  fields.end();
  const Model& model = call.model();
  const std::string family = model.family();
  Json info = {{"general.architecture", family},
               {family + ".context_length", model.context_length()},
               {family + ".embedding_length", model.embedding_size()},
               {family + ".vocab_size", model.vocab_size()}};
  call.call->respond_json({{"modelfile", ""},
                           {"parameters", ""},
                           {"template", ""},
                           {"details", details_json(family)},
                           {"model_info", std::move(info)},
                           {"capabilities", capabilities_of(call.target)}});
}

}  // namespace heed::serve
