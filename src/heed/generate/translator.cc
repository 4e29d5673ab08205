#include "heed/generate/translator.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/data/translation_batches.h"
#include "heed/text/utf8.h"

namespace heed::generate {
Translator::Translator(const model::Transformer& model, const text::TranslationTokenizer& tokenizer,
                       Options options)
    : model_(model), tokenizer_(tokenizer), options_(options) {
  require(tokenizer.vocab_size() == model.config().vocab_size,
          "the tokenizer has {} pieces, the model's vocabulary {}", tokenizer.vocab_size(),
          model.config().vocab_size);
}

std::vector<TranslatedLine> Translator::translate(const std::vector<std::string>& lines,
                                                  int64_t first_line) const {
  std::vector<TranslatedLine> results(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto number = first_line + static_cast<int64_t>(i);
    require(text::is_valid_utf8(lines[i]), "line {} is not valid UTF-8", number);
    results[i].source = tokenizer_.encode_source(lines[i]);
    require(static_cast<int64_t>(results[i].source.size()) <= model_.config().max_positions,
            "line {} has {} tokens, the model reads at most {}", number, results[i].source.size(),
            model_.config().max_positions);
  }
  std::vector<TranslatedLine*> filled;  // a line of nothing but end of sequence stays empty
  std::vector<int64_t> lengths;
  for (TranslatedLine& line : results) {
    if (line.source.size() <= 1) continue;
    filled.push_back(&line);
    lengths.push_back(static_cast<int64_t>(line.source.size()));
  }
  const int64_t budget = std::max<int64_t>(options_.batch_tokens / options_.search.beam, 1);
  for (const std::vector<int64_t>& batch : data::plan_by_tokens(lengths, budget)) {
    std::vector<TranslatedLine*> lines_of_batch;
    for (const int64_t index : batch) lines_of_batch.push_back(filled[static_cast<size_t>(index)]);
    translate_batch(lines_of_batch);
  }
  return results;
}

void Translator::translate_batch(const std::vector<TranslatedLine*>& lines) const {
  std::vector<int32_t> ids, offsets{0};
  for (const TranslatedLine* line : lines) {
    ids.insert(ids.end(), line->source.begin(), line->source.end());
    offsets.push_back(static_cast<int32_t>(ids.size()));
  }
  auto found = search(model_, options_.dtype, {ids, offsets}, options_.search);
  for (size_t i = 0; i < lines.size(); ++i)
    for (Hypothesis& hypothesis : found[i]) {
      std::string text = tokenizer_.decode_target(hypothesis.tokens);
      lines[i]->candidates.push_back({std::move(text), std::move(hypothesis)});
    }
}

}  // namespace heed::generate
