#include "heed/train/validation.h"

#include <algorithm>

#include "heed/data/batch.h"
#include "heed/data/batch_plan.h"
#include "heed/generate/translator.h"
#include "heed/train/bleu.h"
#include "heed/train/chrf.h"

namespace heed::train {
namespace {

ops::Loss loss_of(const model::Transformer& model, DType dtype, const Dataset& dataset,
                  const TrainConfig& config) {
  ops::Loss loss;
  Context context{.dtype = dtype};
  const data::BatchOptions options{.token_budget = config.run.token_budget};
  for (const auto& indices : data::plan_epoch(data::lengths_of(dataset.valid), options, 0)) {
    const data::Batch batch = data::make_batch(dataset.valid, indices, model.config().start_id);
    loss += model.loss(context, {batch.source, batch.source_offsets},
                       {batch.decoder_input, batch.target_offsets}, batch.target,
                       {.label_smoothing = static_cast<float>(config.optimizer.label_smoothing)});
  }
  return loss;
}

}  // namespace

ValidationRecord validate(model::Transformer& model, DType dtype, const Dataset& dataset,
                          const TrainConfig& config) {
  ValidationRecord record;
  model.pack(dtype);
  const ops::Loss loss = loss_of(model, dtype, dataset, config);
  record.loss = loss.mean();
  record.perplexity = loss.perplexity();

  const size_t count =
      std::min(dataset.valid_text.size(), static_cast<size_t>(config.validation.sentences));
  std::vector<std::string> sources, references, translations;
  for (size_t i = 0; i < count; ++i) {
    sources.push_back(dataset.valid_text[i].source);
    references.push_back(dataset.valid_text[i].target);
  }
  const generate::Translator translator(
      model, dataset.tokenizer,
      {.search = {.beam = static_cast<int>(config.validation.beam)}, .dtype = dtype});
  for (const generate::TranslatedLine& line : translator.translate(sources))
    translations.push_back(line.candidates.empty() ? "" : line.candidates.front().text);
  record.bleu = corpus_bleu(translations, references).score;
  record.chrf = corpus_chrf(translations, references).score;
  for (size_t i = 0; i < std::min(count, static_cast<size_t>(config.validation.samples)); ++i)
    record.samples.push_back({sources[i], references[i], translations[i]});
  model.unpack();
  return record;
}

}  // namespace heed::train
