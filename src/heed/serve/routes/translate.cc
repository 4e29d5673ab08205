#include <algorithm>

#include "heed/base/quote.h"
#include "heed/serve/fields/translate_fields.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/routes.h"
#include "heed/serve/translation/detected_language.h"
#include "heed/serve/translation/given_documents.h"
#include "heed/serve/translation/pivot_call.h"
#include "heed/serve/translation/translation_call.h"
#include "heed/text/language_codes.h"

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

/// What an answer says beside its translations.
struct TranslateAnswer {
  std::string model;
  TranslationPath path;
  bool alignments = false;
  Json detected;
  std::shared_ptr<const GivenDocuments> documents = {};  // null: the texts are lines

  Json json(const std::vector<TranslatedText>& translated, Json usage) const {
    Json answer = {{"model", model},
                   {"translations", documents ? of_documents(translated) : of_texts(translated)}};
    if (!path.is_direct()) answer["via"] = via_json(path);
    if (!detected.is_null()) answer["detected_language"] = detected;
    answer["usage"] = std::move(usage);
    return answer;
  }

 private:
  Json candidates_json(const TranslatedText& text) const {
    Json candidates = Json::array();
    for (const Candidate& candidate : text.candidates)
      candidates.push_back(candidate_json(candidate, alignments));
    return candidates;
  }

  Json of_texts(const std::vector<TranslatedText>& translated) const {
    Json list = Json::array();
    for (const TranslatedText& text : translated)
      list.push_back(
          {{"index", list.size()}, {"text", text.text}, {"candidates", candidates_json(text)}});
    return list;
  }

  Json of_documents(const std::vector<TranslatedText>& translated) const {
    Json list = Json::array();
    for (size_t i = 0; i < documents->size(); ++i) {
      Json sentences = Json::array();
      for (size_t k = documents->first(i); k < documents->first(i + 1); ++k) {
        const DocumentSentence& sentence = documents->sentence(i, sentences.size());
        sentences.push_back({{"paragraph", sentence.paragraph},
                             {"source", sentence.source},
                             {"candidates", candidates_json(translated[k])}});
      }
      list.push_back({{"index", i},
                      {"text", documents->translation(i, translated)},
                      {"sentences", std::move(sentences)}});
    }
    return list;
  }
};

/// Replaces the source "auto" by the language that the texts are in, which is returned.
Json resolve_source(const ModelCall& call, const std::vector<std::string>& texts,
                    const std::optional<DocumentOptions>& document, std::string& source) {
  if (source != engine::kDetectSource) return nullptr;
  const engine::DetectedSource found =
      detect_source_of(call, document ? texts_in(texts, document->format, "text") : texts);
  source = found.code;
  return {{"language", text::short_language(found.code)},
          {"probability", found.language.probability}};
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

/// Without "model", languages choose it; of "auto", that of the texts.
std::string choose_translation(const Services& services, const Json& body, std::string named) {
  JsonFields fields(body);
  auto source = fields.text("source_language");
  const auto target = fields.text("target_language");
  if (!named.empty() || !source || !target) return named;
  if (*source == engine::kDetectSource) {
    const std::vector<std::string> sources = source_languages_for(services, *target);
    if (sources.empty()) return named;
    const auto document = read_document_options(fields);
    const std::vector<std::string> texts = read_texts(fields, "text");
    source = detect_source_of(document ? texts_in(texts, document->format, "text") : texts, sources,
                              "source_language")
                 .code;
  }
  const auto path =
      translation_path(services.models.list(), *source, *target, fields.text("via").value_or(""));
  return path ? path->first : named;
}

/// heed's own: texts with candidates, scores and alignments, or documents.
void post_translate(const ModelCall& call) {
  require_task(call.target, call.target.tasks.translate, "translate");
  JsonFields fields = call.fields();
  fields.ignore({"model", "user"});
  const bool named = fields.find("model") != nullptr;
  const std::vector<std::string> texts = read_texts(fields, "text");
  TranslateOptions options = read_translate_options(fields);
  const std::optional<DocumentOptions> document = read_document_options(fields);
  fields.end();
  const Json detected = resolve_source(call, texts, document, options.source_language);
  const TranslationPath path = path_of(call, options, named);
  if (path.is_direct()) use_own_codes(call, options.source_language, options.target_language);
  TranslateAnswer answer{.model = call.target.name,
                         .path = path,
                         .alignments = options.alignments,
                         .detected = detected};
  if (document) {
    DocumentOptions split = *document;
    split.translate = path.is_direct() ? options : first_step_options(call.model(), path, options);
    answer.documents = std::make_shared<const GivenDocuments>(call.model(), texts, split, "text");
    options.alignments |= answer.documents->uses_alignments();
  }
  const std::vector<std::string>& lines = document ? answer.documents->sentences() : texts;
  const auto done = [answer](Call& answered, const std::vector<TranslatedText>& translated,
                             int64_t input, int64_t output) {
    answered.respond_json(answer.json(translated, usage_json(input, output)));
  };
  if (path.is_direct()) return translate(call, lines, options, "text", done);
  translate_along(call, path, lines, options, "text", done);
}

}  // namespace heed::serve
