#include "heed/serve/routes/libre_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "heed/base/quote.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/routes.h"
#include "heed/serve/translation/detected_language.h"
#include "heed/serve/translation/pivot_call.h"
#include "heed/text/language_codes.h"

namespace heed::serve {
namespace {

std::string required_libre_text(JsonFields& fields, std::string_view name) {
  if (!fields.find(name)) throw missing_libre_field(name);
  return fields.required_text(name);
}

/// The model of the call alone if the client named it, or if it has both languages.
TranslationPath path_of_call(const ModelCall& call, bool named, const std::string& source,
                             const std::string& target) {
  const TranslationPath direct{.first = call.target.name, .second = {}, .via = {}};
  if (named) return direct;
  const auto path = translation_path(call.services.models.list(), source, target);
  return path && path->first == call.target.name ? *path : direct;
}

engine::DetectedSource detected_source(const LibreTexts& texts,
                                       const std::vector<std::string>& sources) {
  return detect_source_of(texts_in(texts.texts, texts.format, texts.field, texts.decoded), sources,
                          "source");
}

/// The language of a call's texts, among those of the translators that have the target.
std::string detected_for(const Services& services, const LibreTexts& texts,
                         const std::string& target) {
  const std::vector<std::string> sources = source_languages_for(services, target);
  if (sources.empty())
    throw invalid_request("target", fmt::format("{} is not supported", one_line(target)));
  return detected_source(texts, sources).code;
}

/// Clients name languages instead of a model: the first translator that has them, or the first of
/// two steps.
std::string choose_for(const Services& services, const Json& body, std::string named,
                       LibreTexts (*read)(JsonFields&)) {
  if (!named.empty()) return named;
  JsonFields fields(body);
  std::string source = required_libre_text(fields, "source");
  const std::string target = required_libre_text(fields, "target");
  if (source == engine::kDetectSource) source = detected_for(services, read(fields), target);
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

}  // namespace

// LibreTranslate's clients know its errors by their words.
ApiError missing_libre_field(std::string_view name) {
  return invalid_request(std::string(name),
                         fmt::format("Invalid request: missing {} parameter", name));
}

LibreTexts read_libre_texts(JsonFields& fields) {
  if (!fields.find("q")) throw missing_libre_field("q");
  LibreTexts texts{.texts = read_texts(fields, "q"),
                   .format = fields.one_of("format", {"text", "html"}),
                   .field = "q"};
  texts.is_list = fields.require("q").is_array();
  return texts;
}

LibreTexts read_libre_file(JsonFields& fields) {
  const Json* const file = fields.find("file");
  if (!file) throw missing_libre_field("file");
  if (!file->is_object() || !file->contains("content") || !(*file)["content"].is_binary())
    throw invalid_request("file", "file is not a file of a multipart form");
  const auto name = (*file)["filename"].get<std::string>();
  const auto format = document::format_of_file(name);
  if (!format)
    throw invalid_request(
        "file", fmt::format("Invalid request: file format of {} is not supported", quoted(name)));
  const auto& bytes = (*file)["content"].get_binary();
  return {.texts = {std::string(bytes.begin(), bytes.end())},
          .format = std::string(name_of(*format)),
          .field = "file",
          .decoded = false,
          .file_name = name};
}

Json libre_detected_json(const DetectedLanguage& language) {
  return {{"language", language.code}, {"confidence", std::lround(100 * language.probability)}};
}

std::string choose_translator(const Services& services, const Json& body, std::string named) {
  return choose_for(services, body, std::move(named), read_libre_texts);
}

std::string choose_file_translator(const Services& services, const Json& body, std::string named) {
  return choose_for(services, body, std::move(named), read_libre_file);
}

void translate_libre(const ModelCall& call, JsonFields& fields, const LibreTexts& texts,
                     int alternatives, OnLibreTranslated done) {
  require_task(call.target, call.target.tasks.translate, "translate");
  fields.ignore({"api_key", "secret", "model"});
  const bool named = fields.find("model") != nullptr;
  std::string source = required_libre_text(fields, "source");
  const std::string target = required_libre_text(fields, "target");
  fields.end();

  TranslateOptions options;
  options.search.n_best = 1 + alternatives;
  options.search.num_beams = std::max(options.search.num_beams, options.search.n_best);
  options.search.scores = true;
  const std::vector<std::string> sources = source_languages_of(call.services, call.target.name);
  Json detected;
  if (source == engine::kDetectSource && !sources.empty()) {
    engine::DetectedSource found = detected_source(texts, sources);
    source = found.code;
    found.language.code = found.code;
    detected = libre_detected_json(found.language);
  }
  options.source_language = source == engine::kDetectSource ? "" : source;
  options.target_language = target;
  const TranslationPath path = path_of_call(call, named, source, target);
  const DocumentOptions split{.translate = first_step_options(call.model(), path, options),
                              .format = texts.format};
  const auto translation = std::make_shared<const LibreTranslation>(LibreTranslation{
      .path = path,
      .detected = std::move(detected),
      .documents = {call.model(), texts.texts, split, texts.field, texts.decoded}});
  options.alignments = translation->documents.uses_alignments();
  translate_along(call, path, translation->documents.sentences(), options, texts.field,
                  [translation, done = std::move(done)](
                      Call& answered, const std::vector<TranslatedText>& translated, int64_t,
                      int64_t) { done(answered, *translation, translated); });
}

}  // namespace heed::serve
