#include "heed/train/step_loss.h"

#include "heed/base/random.h"
#include "heed/train/batch_loss.h"

namespace heed::train {
namespace {

StepTokens tokens_of(const std::vector<data::Batch>& batches) {
  StepTokens sum;
  for (const data::Batch& batch : batches) {
    sum.source += batch.source_tokens();
    sum.decoder += batch.decoder_tokens();
    sum.predicted += batch.target_tokens();
    sum.sequences += batch.sequences();
  }
  return sum;
}

}  // namespace

StepLoss accumulate_gradients(const model::Transformer& model, Gradients& gradients,
                              const std::vector<data::Batch>& batches,
                              const StepLossOptions& options) {
  StepLoss sum{.loss = {}, .tokens = tokens_of(batches)};
  int64_t terms = 0;
  for (const data::Batch& batch : batches) terms += batch.loss_terms();
  const CounterRandom seeds(options.seed, static_cast<uint64_t>(options.step));
  for (size_t i = 0; i < batches.size(); ++i) {
    Tape tape(gradients);
    Context context{.tape = &tape, .dtype = options.dtype, .dropout_seed = seeds.bits(i)};
    sum.loss += batch_loss(model, context, batches[i],
                           {.label_smoothing = options.label_smoothing,
                            .gradient_scale = 1.0f / static_cast<float>(terms)});
    tape.backward();
  }
  return sum;
}

}  // namespace heed::train
