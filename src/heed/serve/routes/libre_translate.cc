// LibreTranslate's API, so that its clients work: https://docs.libretranslate.com
#include <algorithm>
#include <cmath>
#include <set>

#include "heed/base/parse_number.h"
#include "heed/base/quote.h"
#include "heed/serve/detected_language.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/given_documents.h"
#include "heed/serve/language_codes.h"
#include "heed/serve/pivot_call.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/routes.h"
#include "heed/serve/translation_call.h"

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
      Json& targets = targets_of(short_language(source));
      for (const std::string& target : model.languages) {
        const Json code = short_language(target);
        if (std::ranges::find(targets, code) == targets.end()) targets.push_back(code);
      }
    }
  }
  add_targets_in_two_steps(list, models);
  return list;
}

// LibreTranslate's clients know its errors by their words.
ApiError missing(std::string_view name) {
  return invalid_request(std::string(name),
                         fmt::format("Invalid request: missing {} parameter", name));
}

std::string required(JsonFields& fields, std::string_view name) {
  if (!fields.find(name)) throw missing(name);
  return fields.required_text(name);
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

/// The model of the call alone if the client named it, or if it has both languages.
TranslationPath path_of_call(const ModelCall& call, bool named, const std::string& source,
                             const std::string& target) {
  const TranslationPath direct{.first = call.target.name, .second = {}, .via = {}};
  if (named) return direct;
  const auto path = translation_path(call.services.models.list(), source, target);
  return path && path->first == call.target.name ? *path : direct;
}

/// As LibreTranslate has it, with whole percents.
Json detected_json(const DetectedLanguage& language) {
  return {{"language", language.code}, {"confidence", std::lround(100 * language.probability)}};
}

/// The language of a call's texts, among those of the translators that have the target.
std::string detected_for(const Services& services, JsonFields& fields, const std::string& target) {
  std::vector<std::string> sources;
  const std::vector<ModelRegistry::ModelInfo> models = services.models.list();
  const auto add_sources = [&](const auto& reaches_target) {
    for (const ModelRegistry::ModelInfo& model : models)
      if (translates(model))
        for (const std::string& source : model.source_languages)
          if (const std::string code = short_language(source);
              std::ranges::find(sources, code) == sources.end() && reaches_target(model, code))
            sources.push_back(code);
  };
  add_sources([&](const ModelRegistry::ModelInfo& model, const std::string&) {
    return has_language(model.languages, target);
  });
  add_sources([&](const ModelRegistry::ModelInfo&, const std::string& source) {
    return translation_path(models, source, target).has_value();
  });
  if (sources.empty())
    throw invalid_request("target", fmt::format("{} is not supported", one_line(target)));
  if (!fields.find("q")) throw missing("q");
  const std::string format = fields.one_of("format", {"text", "html"});
  return detect_source_of(texts_in(read_texts(fields, "q"), format, "q"), sources, "source").code;
}

}  // namespace

void get_languages(Services& services, Call& call) {
  call.respond_json(language_list(services.models.list()));
}

/// Clients name languages instead of a model: the first translator that has them, or the first of
/// two steps.
std::string choose_translator(const Services& services, const Json& body, std::string named) {
  if (!named.empty()) return named;
  JsonFields fields(body);
  std::string source = required(fields, "source");
  const std::string target = required(fields, "target");
  if (source == engine::kDetectSource) source = detected_for(services, fields, target);
  const std::vector<ModelRegistry::ModelInfo> models = services.models.list();
  if (const auto path = translation_path(models, source, target)) return path->first;
  bool knows_source = false, knows_target = false;
  for (const ModelRegistry::ModelInfo& model : models) {
    if (!translates(model)) continue;
    knows_source |= has_language(model.source_languages, source);
    knows_target |= has_language(model.languages, target);
  }
  if (!knows_source)
    throw invalid_request("source", fmt::format("{} is not supported", one_line(source)));
  if (!knows_target)
    throw invalid_request("target", fmt::format("{} is not supported", one_line(target)));
  throw invalid_request("target", fmt::format("{} is not available as a target language from {}",
                                              one_line(target), one_line(source)));
}

void post_libre_translate(const ModelCall& call) {
  require_task(call.target, call.target.tasks.translate, "translate");
  JsonFields fields = call.fields();
  fields.ignore({"api_key", "secret", "model"});
  const bool named = fields.find("model") != nullptr;
  if (!fields.find("q")) throw missing("q");
  const bool list = fields.require("q").is_array();
  const std::vector<std::string> texts = read_texts(fields, "q");
  std::string source = required(fields, "source");
  const std::string target = required(fields, "target");
  DocumentOptions document{.format = fields.one_of("format", {"text", "html"})};
  const int alternatives = read_alternatives(fields);
  fields.end();

  TranslateOptions options;
  options.search.n_best = 1 + alternatives;
  options.search.num_beams = std::max(options.search.num_beams, options.search.n_best);
  options.search.scores = true;
  const std::vector<std::string> sources = source_languages_of(call.services, call.target.name);
  Json detected;
  if (source == engine::kDetectSource && !sources.empty()) {
    engine::DetectedSource found =
        detect_source_of(texts_in(texts, document.format, "q"), sources, "source");
    source = found.code;
    found.language.code = found.code;
    detected = detected_json(found.language);
  }
  options.source_language = source == engine::kDetectSource ? "" : source;
  options.target_language = target;
  const TranslationPath path = path_of_call(call, named, source, target);
  document.translate = first_step_options(call.model(), path, options);
  const auto given = std::make_shared<const GivenDocuments>(call.model(), texts, document, "q");
  options.alignments = given->uses_alignments();
  translate_along(
      call, path, given->sentences(), options, "q",
      [list, alternatives, given, detected, path](
          Call& answered, const std::vector<TranslatedText>& translated, int64_t, int64_t) {
        Json best = Json::array(), others = Json::array(), languages = Json::array();
        for (size_t i = 0; i < given->size(); ++i) {
          best.push_back(given->translation(i, translated, 0));
          Json own = Json::array();
          for (int k = 1; k <= given->alternatives(i, translated, alternatives); ++k)
            own.push_back(given->translation(i, translated, static_cast<size_t>(k)));
          others.push_back(std::move(own));
          languages.push_back(detected);
        }
        Json answer = {{"translatedText", list ? best : best.front()}};
        if (!path.is_direct()) answer["via"] = path.via;
        if (alternatives > 0) answer["alternatives"] = list ? others : others.front();
        if (!detected.is_null()) answer["detectedLanguage"] = list ? languages : languages.front();
        answered.respond_json(answer);
      });
}

void post_libre_detect(Services& services, Call& call) {
  const Json body = body_of(call.request());
  JsonFields fields = fields_of(services, call, body);
  fields.ignore({"api_key"});
  if (!fields.find("q")) throw missing("q");
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
      list.push_back(detected_json(language));
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
                     {"filesTranslation", false},
                     {"supportedFilesFormat", Json::array()},
                     {"suggestions", false},
                     {"frontendTimeout", 500},
                     {"language", {{"source", language(source)}, {"target", language(target)}}}});
}

}  // namespace heed::serve
