// LibreTranslate's API, so that its clients work: https://docs.libretranslate.com
#include <algorithm>

#include "heed/base/parse_number.h"
#include "heed/base/quote.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/language_codes.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/routes.h"
#include "heed/serve/translation_call.h"

namespace heed::serve {
namespace {

constexpr int kMaxAlternatives = 16;
constexpr const char* kAnySource = "auto";

bool translates(const ModelRegistry::ModelInfo& model) {
  return std::ranges::find(model.tasks, "translate") != model.tasks.end();
}

bool has(const std::vector<std::string>& codes, const std::string& language) {
  return !code_of_language(codes, language).empty();
}

/// The languages of the translators, with those that each can be translated into.
Json language_list(const std::vector<ModelRegistry::ModelInfo>& models) {
  Json list = Json::array();
  const auto targets_of = [&](const std::string& source) -> Json& {
    for (Json& language : list)
      if (language["code"] == source) return language["targets"];
    list.push_back({{"code", source}, {"name", source}, {"targets", Json::array()}});
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

/// The model's code of a language; none if it has no languages to choose from.
std::string own_code(const std::vector<std::string>& codes, const std::string& language) {
  return codes.empty() || language == kAnySource ? "" : code_of_language(codes, language);
}

}  // namespace

void get_languages(Services& services, Call& call) {
  call.respond_json(language_list(services.models.list()));
}

/// Clients name languages instead of a model: the first translator that has them.
std::string choose_translator(const Services& services, const Json& body, std::string named) {
  if (!named.empty()) return named;
  JsonFields fields(body);
  const std::string source = required(fields, "source"), target = required(fields, "target");
  bool knows_source = source == kAnySource, knows_target = false;
  for (const ModelRegistry::ModelInfo& model : services.models.list()) {
    if (!translates(model)) continue;
    const bool from = source == kAnySource ? model.source_languages.size() == 1
                                           : has(model.source_languages, source);
    const bool into = has(model.languages, target);
    if (from && into) return model.name;
    knows_source |= from;
    knows_target |= into;
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
  if (!fields.find("q")) throw missing("q");
  const bool list = fields.require("q").is_array();
  const std::vector<std::string> texts = read_texts(fields, "q");
  const std::string source = required(fields, "source"), target = required(fields, "target");
  fields.only("format", "text");
  const int alternatives = read_alternatives(fields);
  fields.end();

  const Model& model = call.model();
  TranslateOptions options;
  options.search.n_best = 1 + alternatives;
  options.search.num_beams = std::max(options.search.num_beams, options.search.n_best);
  options.search.scores = true;
  options.source_language = own_code(model.source_languages(), source);
  options.target_language = own_code(model.languages(), target);
  translate(call, texts, options, "q",
            [list, alternatives](Call& answered, const std::vector<TranslatedText>& translated,
                                 int64_t, int64_t) {
              Json best = Json::array(), others = Json::array();
              for (const TranslatedText& text : translated) {
                best.push_back(text.text);
                Json own = Json::array();
                for (size_t i = 1; i < text.candidates.size(); ++i)
                  own.push_back(text.candidates[i].text);
                others.push_back(std::move(own));
              }
              Json answer = {{"translatedText", list ? best : best.front()}};
              if (alternatives > 0) answer["alternatives"] = list ? others : others.front();
              answered.respond_json(answer);
            });
}

}  // namespace heed::serve
