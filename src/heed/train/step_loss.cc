#include "heed/train/step_loss.h"

#include "heed/base/random.h"
#include "heed/train/batch_loss.h"

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

StepLoss accumulate_gradients(const model::Transformer& model, Gradients& gradients,
                              std::span<const data::Batch> batches, const StepLossOptions& options,
                              GradientHook* hook) {
  StepLoss sum{.loss = {}, .tokens = tokens_of(batches)};
  const int64_t terms = options.terms > 0 ? options.terms : loss_terms(batches);
  const CounterRandom seeds(options.seed, static_cast<uint64_t>(options.step));
  for (size_t i = 0; i < batches.size(); ++i) {
    Tape tape(gradients, hook);
    Context context{.tape = &tape,
                    .dtype = options.dtype,
                    .dropout_seed = seeds.bits(options.first_batch + i),
                    .rounds_to_int8 = options.rounds_to_int8};
    sum.loss += batch_loss(model, context, batches[i],
                           {.label_smoothing = options.label_smoothing,
                            .gradient_scale = 1.0f / static_cast<float>(terms)},
                           options.alignment_weight);
    tape.backward();
  }
  return sum;
}

}  // namespace heed::train
