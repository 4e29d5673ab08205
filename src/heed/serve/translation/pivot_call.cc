#include "heed/serve/translation/pivot_call.h"

#include <utility>

#include "heed/engine/pivot.h"
#include "heed/text/language_codes.h"

namespace heed::serve {
namespace {

/// A model's code of a language; empty if it has no languages to choose from.
std::string code_for(const std::vector<std::string>& codes, const std::string& language) {
  return codes.empty() ? std::string() : text::code_of_language(codes, language);
}

/// One of two steps.
TranslateOptions step_options(const Model& model, const TranslateOptions& options,
                              const std::string& source, const std::string& target) {
  TranslateOptions step = options;
  step.via.clear();
  step.source_language = code_for(model.source_languages(), source);
  step.target_language = code_for(model.languages(), target);
  return step;
}

/// What the second step needs of the first.
struct BetweenSteps {
  Services& services;
  std::shared_ptr<Call> call;
  TranslationPath path;
  TranslateOptions options;
  std::string field;
  OnTranslated done;
  std::vector<TranslatedText> texts;  // in the language between
  int64_t input = 0, output = 0;      // tokens of the first step
};

void start_second(const std::shared_ptr<const BetweenSteps>& first,
                  const ModelRegistry::Target& target) {
  static const Json kNoBody;
  const ModelCall call{first->services, first->call, target, kNoBody};
  std::vector<std::string> texts;
  for (const TranslatedText& text : first->texts) texts.push_back(text.text);
  const TranslateOptions options =
      step_options(call.model(), first->options, first->path.via, first->options.target_language);
  translate(call, texts, options, first->field,
            [first](Call& answered, const std::vector<TranslatedText>& translated, int64_t,
                    int64_t output) {
              std::vector<TranslatedText> composed = translated;
              for (size_t i = 0; i < composed.size(); ++i)
                for (Candidate& candidate : composed[i].candidates)
                  if (!first->texts[i].candidates.empty())
                    engine::compose_alignment(first->texts[i].candidates.front().alignment,
                                              candidate.alignment);
              first->done(answered, composed, first->input, first->output + output);
            });
}

/// Loads the second model if it is not, which an error of becomes the response.
void continue_with_second(const std::shared_ptr<const BetweenSteps>& first) {
  const auto start = [first](const ModelRegistry::Target& target) {
    try {
      start_second(first, target);
    } catch (...) {
      first->call->fail(current_error());
    }
  };
  const auto loaded = first->services.models.find_or_load(
      first->path.second, start, [first](const ApiError& error) { first->call->fail(error); });
  if (loaded) start(*loaded);
}

}  // namespace

void translate_along(const ModelCall& call, const TranslationPath& path,
                     const std::vector<std::string>& texts, const TranslateOptions& options,
                     const std::string& field, OnTranslated done) {
  if (path.is_direct())
    return translate(call, texts, first_step_options(call.model(), path, options), field,
                     std::move(done));
  if (options.confidence)
    throw invalid_request("confidence",
                          fmt::format("the texts are translated via {}, and there is no "
                                      "calibration of two steps",
                                      path.via));
  if (!options.glossary.empty())
    throw invalid_request("glossary",
                          fmt::format("the texts are translated via {}, and a glossary is of one "
                                      "step",
                                      path.via));
  TranslateOptions first = first_step_options(call.model(), path, options);
  first.search.n_best = 1;
  const auto between = std::make_shared<BetweenSteps>(
      BetweenSteps{call.services, call.call, path, options, field, std::move(done), {}});
  translate(call, texts, first, field,
            [between](Call&, const std::vector<TranslatedText>& translated, int64_t input,
                      int64_t output) {
              between->texts = translated;
              between->input = input;
              between->output = output;
              continue_with_second(between);
            });
}

TranslateOptions first_step_options(const Model& first, const TranslationPath& path,
                                    const TranslateOptions& options) {
  return step_options(first, options, options.source_language,
                      path.is_direct() ? options.target_language : path.via);
}

Json via_json(const TranslationPath& path) {
  return {{"language", path.via}, {"model", path.second}};
}

}  // namespace heed::serve
