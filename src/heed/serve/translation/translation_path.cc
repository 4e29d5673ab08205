#include "heed/serve/translation/translation_path.h"

#include <algorithm>

#include "heed/text/language_codes.h"

namespace heed::serve {
namespace {

using ModelInfo = ModelRegistry::ModelInfo;

constexpr const char* kPreferred = "en";

/// The first model that translates `source` into `target`; null if there is none.
const ModelInfo* direct_model(const std::vector<ModelInfo>& models, const std::string& source,
                              const std::string& target) {
  const auto found = std::ranges::find_if(models, [&](const ModelInfo& model) {
    return translates(model) && has_language(model.source_languages, source) &&
           has_language(model.languages, target);
  });
  return found == models.end() ? nullptr : &*found;
}

/// The languages that can be between: those into which the source is translated.
std::vector<std::string> languages_between(const std::vector<ModelInfo>& models,
                                           const std::string& source, const std::string& target) {
  std::vector<std::string> between;
  for (const ModelInfo& model : models) {
    if (!translates(model) || !has_language(model.source_languages, source)) continue;
    for (const std::string& code : model.languages)
      if (const std::string language = text::short_language(code);
          language != text::short_language(source) && language != text::short_language(target))
        between.push_back(language);
  }
  std::ranges::stable_partition(between,
                                [](const std::string& language) { return language == kPreferred; });
  return between;
}

}  // namespace

bool translates(const ModelInfo& model) {
  return std::ranges::find(model.tasks, "translate") != model.tasks.end();
}

bool has_language(const std::vector<std::string>& codes, const std::string& language) {
  return !text::code_of_language(codes, language).empty();
}

std::optional<TranslationPath> translation_path(const std::vector<ModelInfo>& models,
                                                const std::string& source,
                                                const std::string& target, const std::string& via) {
  if (via.empty())
    if (const ModelInfo* model = direct_model(models, source, target))
      return TranslationPath{.first = model->name, .second = {}, .via = {}};
  if (text::short_language(source) == text::short_language(target)) return std::nullopt;
  const std::vector<std::string> between =
      via.empty() ? languages_between(models, source, target) : std::vector{via};
  for (const std::string& language : between) {
    const ModelInfo* first = direct_model(models, source, language);
    const ModelInfo* second = direct_model(models, language, target);
    if (first && second)
      return TranslationPath{
          .first = first->name, .second = second->name, .via = text::short_language(language)};
  }
  return std::nullopt;
}

}  // namespace heed::serve
