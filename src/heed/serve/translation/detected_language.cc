#include "heed/serve/translation/detected_language.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/serve/translation/translation_path.h"
#include "heed/text/language_codes.h"

namespace heed::serve {

std::vector<std::string> source_languages_of(const Services& services, const std::string& model) {
  std::vector<std::string> languages;
  for (const ModelRegistry::ModelInfo& info : services.models.list())
    if (info.name == model)
      for (const std::string& code : info.source_languages)
        languages.push_back(text::short_language(code));
  return languages;
}

std::vector<std::string> source_languages_for(const Services& services, const std::string& target) {
  std::vector<std::string> sources;
  const std::vector<ModelRegistry::ModelInfo> models = services.models.list();
  const auto add_sources = [&](const auto& reaches_target) {
    for (const ModelRegistry::ModelInfo& model : models)
      if (translates(model))
        for (const std::string& source : model.source_languages)
          if (const std::string code = text::short_language(source);
              std::ranges::find(sources, code) == sources.end() && reaches_target(model, code))
            sources.push_back(code);
  };
  add_sources([&](const ModelRegistry::ModelInfo& model, const std::string&) {
    return has_language(model.languages, target);
  });
  add_sources([&](const ModelRegistry::ModelInfo&, const std::string& source) {
    return translation_path(models, source, target).has_value();
  });
  return sources;
}

engine::DetectedSource detect_source_of(const std::vector<std::string>& texts,
                                        const std::vector<std::string>& codes,
                                        const std::string& field) {
  try {
    return engine::detect_source(fmt::format("{}", fmt::join(texts, "\n")), codes);
  } catch (const InputError& error) {
    throw invalid_request(field, error.what());
  }
}

engine::DetectedSource detect_source_of(const ModelCall& call,
                                        const std::vector<std::string>& texts) {
  std::vector<std::string> codes = call.model().source_languages();
  if (!call.target.source_language.empty()) codes = {call.target.source_language};
  if (codes.empty())
    throw invalid_request("source_language",
                          "source_language is \"auto\", and nothing says what the model "
                          "translates from: leave it out");
  return detect_source_of(texts, codes, "source_language");
}

}  // namespace heed::serve
