// LibreTranslate's API, so that its clients work: https://docs.libretranslate.com
#include <algorithm>
#include <set>

#include "heed/base/parse_number.h"
#include "heed/base/quote.h"
#include "heed/serve/routes/libre_fields.h"
#include "heed/serve/routes/routes.h"
#include "heed/serve/translation/language_names.h"
#include "heed/text/language_codes.h"

namespace heed::serve {
namespace {

constexpr int kMaxAlternatives = 16;
/// Languages of a detection that are less probable are left out.
constexpr double kLeastListed = 0.01;

/// Adds the targets that translation_path() reaches through another language.
void add_targets_in_two_steps(Json& list, const std::vector<ModelRegistry::ModelInfo>& models) {
  std::set<std::string> all;
  for (const Json& language : list)
    for (const Json& target : language["targets"]) all.insert(target.get<std::string>());
  for (Json& language : list) {
    const auto code = language["code"].get<std::string>();
    const auto direct = language["targets"].get<std::set<std::string>>();
    for (const std::string& target : all)
      if (target != code && !direct.contains(target) && translation_path(models, code, target))
        language["targets"].push_back(target);
  }
}

/// The languages of the translators, with those that each can be translated into, in two steps if
/// no model does it in one.
Json language_list(const std::vector<ModelRegistry::ModelInfo>& models) {
  Json list = Json::array();
  const auto targets_of = [&](const std::string& source) -> Json& {
    for (Json& language : list)
      if (language["code"] == source) return language["targets"];
    list.push_back({{"code", source},
                    {"name", std::string(name_of_language(source))},
                    {"targets", Json::array()}});
    return list.back()["targets"];
  };
  for (const ModelRegistry::ModelInfo& model : models) {
    if (!translates(model)) continue;
    for (const std::string& source : model.source_languages) {
      Json& targets = targets_of(text::short_language(source));
      for (const std::string& target : model.languages) {
        const Json code = text::short_language(target);
        if (std::ranges::find(targets, code) == targets.end()) targets.push_back(code);
      }
    }
  }
  add_targets_in_two_steps(list, models);
  return list;
}

/// A number or, in forms, its text.
int read_alternatives(JsonFields& fields) {
  const Json* value = fields.find("alternatives");
  if (!value || !value->is_string())
    return static_cast<int>(fields.integer("alternatives", 0, kMaxAlternatives).value_or(0));
  const std::string text = value->get<std::string>();
  const int count = parse_number<int>(text).value_or(-1);
  if (count < 0 || count > kMaxAlternatives)
    throw invalid_request("alternatives", fmt::format("alternatives is {}, expected 0 to {}",
                                                      quoted(text), kMaxAlternatives));
  return count;
}

/// Of the files that are translated.
Json file_extensions() {
  Json list = Json::array();
  for (const document::Format format : enumerators<document::Format>())
    for (const std::string_view extension : document::extensions_of(format))
      list.push_back(extension);
  return list;
}

}  // namespace

void get_languages(Services& services, Call& call) {
  call.respond_json(language_list(services.models.list()));
}

void post_libre_translate(const ModelCall& call) {
  JsonFields fields = call.fields();
  const LibreTexts texts = read_libre_texts(fields);
  const int alternatives = read_alternatives(fields);
  const auto respond = [list = texts.is_list, alternatives](
                           Call& answered, const LibreTranslation& translation,
                           const std::vector<TranslatedText>& translated) {
    const GivenDocuments& documents = translation.documents;
    Json best = Json::array(), others = Json::array(), languages = Json::array();
    for (size_t i = 0; i < documents.size(); ++i) {
      best.push_back(documents.translation(i, translated, 0));
      Json own = Json::array();
      for (int k = 1; k <= documents.alternatives(i, translated, alternatives); ++k)
        own.push_back(documents.translation(i, translated, static_cast<size_t>(k)));
      others.push_back(std::move(own));
      languages.push_back(translation.detected);
    }
    Json answer = {{"translatedText", list ? best : best.front()}};
    if (!translation.path.is_direct()) answer["via"] = translation.path.via;
    if (alternatives > 0) answer["alternatives"] = list ? others : others.front();
    if (!translation.detected.is_null())
      answer["detectedLanguage"] = list ? languages : languages.front();
    answered.respond_json(answer);
  };
  translate_libre(call, fields, texts, alternatives, respond);
}

void post_libre_detect(Services& services, Call& call) {
  const Json body = body_of(call.request());
  JsonFields fields = fields_of(services, call, body);
  fields.ignore({"api_key"});
  if (!fields.find("q")) throw missing_libre_field("q");
  const std::vector<DetectedLanguage> detected = detect_language(fields.required_text("q"));
  fields.end();
  if (detected.empty())
    throw invalid_request(
        "q", fmt::format("the language cannot be told: q has no letters of a script that heed "
                         "knows; it knows {}",
                         fmt::join(LanguageIdentifier::built_in().languages(), ", ")));
  Json list = Json::array();
  for (const DetectedLanguage& language : detected)
    if (list.empty() || language.probability >= kLeastListed)
      list.push_back(libre_detected_json(language));
  call.respond_json(list);
}

void get_libre_settings(Services& services, Call& call) {
  const Json languages = language_list(services.models.list());
  const auto language = [](const Json& code) -> Json {
    if (code.is_null()) return nullptr;
    return {{"code", code}, {"name", std::string(name_of_language(code.get<std::string>()))}};
  };
  const Json source = languages.empty() ? Json() : languages[0]["code"];
  const Json target =
      languages.empty() || languages[0]["targets"].empty() ? Json() : languages[0]["targets"][0];
  const bool keys = !services.options.api_keys.empty();
  call.respond_json({{"apiKeys", keys},
                     {"keyRequired", keys},
                     {"charLimit", -1},
                     {"filesTranslation", true},
                     {"supportedFilesFormat", file_extensions()},
                     {"suggestions", false},
                     {"frontendTimeout", 500},
                     {"language", {{"source", language(source)}, {"target", language(target)}}}});
}

}  // namespace heed::serve
