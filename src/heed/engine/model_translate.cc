#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/engine/detected_source.h"
#include "heed/engine/loaded_model.h"
#include "heed/generate/translator.h"
#include "heed/model.h"
#include "heed/text/utf8.h"

namespace heed {
namespace {

const text::TranslationTokenizer& tokenizer_of(const engine::LoadedModel& model) {
  require(model.transformer->has_encoder() && model.transformer->has_decoder(),
          "{} is {} and cannot translate, expected an encoder-decoder", model.path.string(),
          model.kind());
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

}  // namespace

Translation Model::translate(const std::string& line, const TranslateOptions& options) const {
  return translate_batch({line}, options).front();
}

std::vector<Translation> Model::translate_batch(const std::vector<std::string>& lines,
                                                const TranslateOptions& options,
                                                int64_t first_number) const {
  const ExecutorScope scope(*loaded_->executor);
  const text::TranslationTokenizer& tokenizer = tokenizer_of(*loaded_);
  engine::check_count("first_number", first_number);
  engine::check_count("batch_tokens", options.batch_tokens, 0);
  generate::Translator::Options details{.search = options.search,
                                        .dtype = loaded_->activations(),
                                        .batch_tokens = options.batch_tokens,
                                        .scores = options.search.scores,
                                        .alignments = options.alignments,
                                        .languages = languages_of(options),
                                        .rules = loaded_->generation.value().rules,
                                        .shortlist = loaded_->shortlist};
  if (options.source_language == engine::kDetectSource)
    details.source_of = [&](const std::string& line) {
      return engine::with_detected_source(languages_of(options), line, tokenizer).source;
    };
  const generate::Translator translator(*loaded_->transformer, tokenizer, std::move(details));
  return translator.translate(lines, first_number);
}

std::vector<int32_t> Model::source_tokens(std::string_view line,
                                          const TranslateOptions& options) const {
  const text::TranslationTokenizer& tokenizer = tokenizer_of(*loaded_);
  text::require_utf8(line, "the line");
  std::vector<int32_t> tokens = tokenizer.encode_source(
      line, engine::with_detected_source(languages_of(options), line, tokenizer));
  if (std::ranges::all_of(tokens, [&](int32_t token) { return tokenizer.is_special(token); }))
    tokens.clear();
  return tokens;
}

}  // namespace heed
