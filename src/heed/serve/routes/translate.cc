#include "heed/serve/detected_language.h"
#include "heed/serve/fields/translate_fields.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/language_codes.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/routes.h"
#include "heed/serve/translation_call.h"

namespace heed::serve {
namespace {

Json candidate_json(const Candidate& candidate, bool alignment) {
  Json json = {{"text", candidate.text},
               {"score", candidate.hypothesis.score},
               {"log_probability", candidate.hypothesis.log_probability}};
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

}  // namespace

/// heed's own: texts with candidates, scores and alignments.
void post_translate(const ModelCall& call) {
  require_task(call.target, call.target.tasks.translate, "translate");
  JsonFields fields = call.fields();
  fields.ignore({"model", "user"});
  const std::vector<std::string> texts = read_texts(fields, "text");
  TranslateOptions options = read_translate_options(fields);
  fields.end();
  const Json detected = resolve_source(call, texts, options.source_language);
  use_own_codes(call, options.source_language, options.target_language);
  translate(
      call, texts, options, "text",
      [model = call.target.name, alignments = options.alignments, detected](
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
        if (!detected.is_null()) answer["detected_language"] = detected;
        answer["usage"] = usage_json(input, output);
        answered.respond_json(answer);
      });
}

}  // namespace heed::serve
