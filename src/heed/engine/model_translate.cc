#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/engine/confidence/candidate_confidence.h"
#include "heed/engine/detected_source.h"
#include "heed/engine/loaded_model.h"
#include "heed/engine/pivot.h"
#include "heed/generate/glossary.h"
#include "heed/generate/translator.h"
#include "heed/model.h"
#include "heed/text/utf8.h"

namespace heed {
namespace {

const text::TranslationTokenizer& tokenizer_of(const engine::LoadedModel& model) {
  if (!model.transformer->has_encoder() || !model.transformer->has_decoder())
    model.refuse_task(&ModelTasks::translate);
  const text::TranslationTokenizer* tokenizer = model.tokenizer.value().translation_tokenizer();
  require(tokenizer,
          "{} has one tokenizer for all texts, and translation needs a vocabulary for each side "
          "(source.spm, target.spm, vocab.json): use generation",
          model.path.string());
  return *tokenizer;
}

text::LanguagePair languages_of(const TranslateOptions& options) {
  return {options.source_language, options.target_language};
}

/// The terms of `options`, which the vocabulary can spell.
generate::Glossary glossary_of(const TranslateOptions& options,
                               const text::TranslationTokenizer& tokenizer) {
  const generate::Glossary glossary(options.glossary, options.do_not_translate, tokenizer);
  require_input(glossary.empty() || options.search.num_beams > 1,
                "terms need beam search: num_beams is 1, expected 2 to {}", kMaxBeams);
  return glossary;
}

}  // namespace

Translation Model::translate(const std::string& line, const TranslateOptions& options) const {
  return translate_batch({line}, options).front();
}

std::vector<Translation> Model::translate_batch(const std::vector<std::string>& lines,
                                                const TranslateOptions& options,
                                                int64_t first_number) const {
  if (engine::has_pivot(options)) return engine::translate_via(*this, lines, options, first_number);
  const ExecutorScope scope(*loaded_->executor);
  const text::TranslationTokenizer& tokenizer = tokenizer_of(*loaded_);
  engine::check_count("first_number", first_number);
  engine::check_count("batch_tokens", options.batch_tokens, 0);
  const bool detects = options.source_language == engine::kDetectSource;
  generate::Translator::Options details{.search = options.search,
                                        .dtype = loaded_->activations(),
                                        .batch_tokens = options.batch_tokens,
                                        .scores = options.search.scores || options.confidence,
                                        .alignments = options.alignments,
                                        .languages = languages_of(options),
                                        .rules = loaded_->generation.value().rules,
                                        .shortlist = loaded_->shortlist};
  if (detects)
    details.source_of = [&](const std::string& line) {
      return engine::with_detected_source(languages_of(options), line, tokenizer).source;
    };
  const generate::Glossary glossary = glossary_of(options, tokenizer);
  if (!glossary.empty())
    details.terms_of = [&](const std::string& line, std::span<const int32_t> source) {
      return generate::required_terms(glossary.required_by(line, source), source, tokenizer,
                                      loaded_->token_joints());
    };
  if (options.confidence && !detects)
    engine::calibration_for(*loaded_, {options.source_language, options.target_language});
  const generate::Translator translator(*loaded_->transformer, tokenizer, std::move(details));
  std::vector<Translation> translations = translator.translate(lines, first_number);
  if (options.confidence) engine::add_confidence(*loaded_, options, lines, translations);
  return translations;
}

std::vector<std::vector<RequiredText>> Model::required_texts(
    const std::vector<std::string>& lines, const TranslateOptions& options) const {
  const generate::Glossary glossary = glossary_of(options, tokenizer_of(*loaded_));
  std::vector<std::vector<RequiredText>> texts(lines.size());
  for (size_t i = 0; i < lines.size() && !glossary.empty(); ++i)
    if (const auto source = source_tokens(lines[i], options); !source.empty())
      texts[i] = glossary.required_by(lines[i], source);
  return texts;
}

std::vector<int32_t> Model::source_tokens(std::string_view line,
                                          const TranslateOptions& options) const {
  if (engine::has_pivot(options)) return source_tokens(line, engine::first_step(*this, options));
  const text::TranslationTokenizer& tokenizer = tokenizer_of(*loaded_);
  text::require_utf8(line, "the line");
  std::vector<int32_t> tokens = tokenizer.encode_source(
      line, engine::with_detected_source(languages_of(options), line, tokenizer));
  if (std::ranges::all_of(tokens, [&](int32_t token) { return tokenizer.is_special(token); }))
    tokens.clear();
  return tokens;
}

}  // namespace heed
