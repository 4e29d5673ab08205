#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/engine/loaded_model.h"
#include "heed/generate/translator.h"
#include "heed/model.h"

namespace heed {

Translation Model::translate(const std::string& line, const TranslateOptions& options) const {
  return translate_batch({line}, options).front();
}

std::vector<Translation> Model::translate_batch(const std::vector<std::string>& lines,
                                                const TranslateOptions& options,
                                                int64_t first_number) const {
  const ExecutorScope scope(*loaded_->executor);
  const model::Transformer& transformer = *loaded_->transformer;
  require(transformer.has_encoder() && transformer.has_decoder(),
          "{} is {} and cannot translate, expected an encoder-decoder", loaded_->path.string(),
          loaded_->kind());
  const text::TranslationTokenizer* tokenizer = loaded_->tokenizer.value().translation_tokenizer();
  require(tokenizer,
          "{} has one tokenizer for all texts, and translation needs a vocabulary for each side "
          "(source.spm, target.spm, vocab.json): use generation",
          loaded_->path.string());
  engine::check_count("first_number", first_number);
  engine::check_count("batch_tokens", options.batch_tokens, 0);
  const text::LanguagePair languages{options.source_language, options.target_language};
  const generate::Translator translator(transformer, *tokenizer,
                                        {.search = options.search,
                                         .dtype = loaded_->activations(),
                                         .batch_tokens = options.batch_tokens,
                                         .scores = options.search.scores,
                                         .alignments = options.alignments,
                                         .languages = languages,
                                         .rules = loaded_->generation.value().rules});
  return translator.translate(lines, first_number);
}

}  // namespace heed
