#include <algorithm>

#include "heed/base/quote.h"
#include "heed/serve/detected_language.h"
#include "heed/serve/fields/translate_fields.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/language_codes.h"
#include "heed/serve/pivot_call.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/routes.h"
#include "heed/serve/translation_call.h"

namespace heed::serve {
namespace {

Json candidate_json(const Candidate& candidate, bool alignment) {
  Json json = {{"text", candidate.text},
               {"score", candidate.hypothesis.score},
               {"log_probability", candidate.hypothesis.log_probability}};
  if (candidate.confidence) {
    json["confidence"] = *candidate.confidence;
    json["words"] = Json::array();
    for (const auto& [text, confidence] : candidate.words)
      json["words"].push_back({{"text", text}, {"confidence", confidence}});
  }
  if (!alignment) return json;
  json["alignment"] = Json::array();
  for (const AlignedWords& pair : candidate.alignment)
    json["alignment"].push_back({pair.source, pair.target});
  return json;
}

/// Replaces the source "auto" by the language that the texts are in, which is returned.
Json resolve_source(const ModelCall& call, const std::vector<std::string>& texts,
                    std::string& source) {
  if (source != engine::kDetectSource) return nullptr;
  std::vector<std::string> codes = call.model().source_languages();
  if (!call.target.source_language.empty()) codes = {call.target.source_language};
  if (codes.empty())
    throw invalid_request("source_language",
                          "source_language is \"auto\", and nothing says what the model "
                          "translates from: leave it out");
  const engine::DetectedSource found = detect_source_of(texts, codes, "source_language");
  source = found.code;
  return {{"language", short_language(found.code)}, {"probability", found.language.probability}};
}

/// The path of a call: two steps if it asks for a language between, or if no model was named and
/// that of the call, which choose_translation() has chosen, has not both languages.
TranslationPath path_of(const ModelCall& call, const TranslateOptions& options, bool named) {
  TranslationPath path{.first = call.target.name, .second = {}, .via = {}};
  if (options.via.empty() && named) return path;
  const bool has_pair = !options.source_language.empty() && !options.target_language.empty();
  if (!options.via.empty() && !has_pair)
    throw invalid_request("via", "via needs source_language and target_language");
  if (!has_pair) return path;
  std::vector<ModelRegistry::ModelInfo> models = call.services.models.list();
  if (named) {  // the first step is its
    const auto own = std::ranges::find(models, call.target.name, &ModelRegistry::ModelInfo::name);
    if (own != models.end()) std::rotate(models.begin(), own, own + 1);
  }
  const auto found =
      translation_path(models, options.source_language, options.target_language, options.via);
  if (found && found->first == call.target.name) return *found;
  if (options.via.empty()) return path;
  throw invalid_request(
      "via",
      fmt::format("no models translate from {} into {} via {}", one_line(options.source_language),
                  one_line(options.target_language), one_line(options.via)));
}

}  // namespace

/// Without "model", languages choose it.
std::string choose_translation(const Services& services, const Json& body, std::string named) {
  JsonFields fields(body);
  const auto source = fields.text("source_language"), target = fields.text("target_language");
  if (!named.empty() || !source || !target) return named;
  const auto path =
      translation_path(services.models.list(), *source, *target, fields.text("via").value_or(""));
  return path ? path->first : named;
}

/// heed's own: texts with candidates, scores and alignments.
void post_translate(const ModelCall& call) {
  require_task(call.target, call.target.tasks.translate, "translate");
  JsonFields fields = call.fields();
  fields.ignore({"model", "user"});
  const bool named = fields.find("model") != nullptr;
  const std::vector<std::string> texts = read_texts(fields, "text");
  TranslateOptions options = read_translate_options(fields);
  fields.end();
  const Json detected = resolve_source(call, texts, options.source_language);
  const TranslationPath path = path_of(call, options, named);
  if (path.is_direct()) use_own_codes(call, options.source_language, options.target_language);
  const auto translate_all = [&](OnTranslated done) {
    if (path.is_direct()) return translate(call, texts, options, "text", std::move(done));
    translate_along(call, path, texts, options, "text", std::move(done));
  };
  translate_all([model = call.target.name, path, alignments = options.alignments, detected](
                    Call& answered, const std::vector<TranslatedText>& translated, int64_t input,
                    int64_t output) {
    Json list = Json::array();
    for (const TranslatedText& text : translated) {
      Json candidates = Json::array();
      for (const Candidate& candidate : text.candidates)
        candidates.push_back(candidate_json(candidate, alignments));
      list.push_back(
          {{"index", list.size()}, {"text", text.text}, {"candidates", std::move(candidates)}});
    }
    Json answer = {{"model", model}, {"translations", std::move(list)}};
    if (!path.is_direct()) answer["via"] = via_json(path);
    if (!detected.is_null()) answer["detected_language"] = detected;
    answer["usage"] = usage_json(input, output);
    answered.respond_json(answer);
  });
}

}  // namespace heed::serve
