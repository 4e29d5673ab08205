#include "heed/train/step_loss.h"

#include "heed/base/random.h"
#include "heed/train/batch_loss.h"
#include "heed/train/losses/pooled_texts.h"
#include "heed/train/losses/vector_gradients.h"

namespace heed::train {

StepTokens tokens_of(std::span<const data::Batch> batches) {
  StepTokens sum;
  for (const data::Batch& batch : batches) {
    sum.source += batch.source_tokens();
    sum.decoder += batch.decoder_tokens();
    sum.predicted += batch.target_tokens();
    sum.sequences += batch.sequences();
  }
  return sum;
}

int64_t loss_terms(std::span<const data::Batch> batches) {
  int64_t terms = 0;
  for (const data::Batch& batch : batches) terms += batch.loss_terms();
  return terms;
}

Context training_context(const StepLossOptions& options, size_t batch, Tape& tape) {
  const CounterRandom seeds(options.seed, static_cast<uint64_t>(options.step));
  return {.tape = &tape,
          .dtype = options.dtype,
          .dropout_seed = seeds.bits(batch),
          .rounds_to_int8 = options.rounds_to_int8};
}

StepLoss accumulate_gradients(const model::Transformer& model, Gradients& gradients,
                              std::span<const data::Batch> batches, const StepLossOptions& options,
                              GradientHook* hook) {
  StepLoss sum{.loss = {}, .tokens = tokens_of(batches)};
  const int64_t terms = options.terms > 0 ? options.terms : loss_terms(batches);
  for (size_t i = 0; i < batches.size(); ++i) {
    const size_t number = options.first_batch + i;
    Tape tape(gradients, hook);
    Context context = training_context(options, number, tape);
    if (options.vectors != nullptr) {
      tape.add(pooled_texts(model, context, batches[i]), options.vectors->of_batches[number]);
      sum.loss += options.vectors->losses[number];
    } else {
      sum.loss += batch_loss(model, context, batches[i],
                             {.label_smoothing = options.label_smoothing,
                              .gradient_scale = 1.0f / static_cast<float>(terms)},
                             options.alignment_weight);
    }
    tape.backward();
  }
  return sum;
}

}  // namespace heed::train
