#include "heed/train/validation.h"

#include "heed/model/packed_scope.h"
#include "heed/train/batch_loss.h"

namespace heed::train {
namespace {

ops::Loss loss_of(const model::Transformer& model, Compute compute, const data::Dataset& examples,
                  const TrainConfig& config) {
  ops::Loss loss;
  Context context{.dtype = activation_dtype(compute)};
  const data::BatchOptions options{.token_budget = config.run.token_budget};
  for (const auto& indices : data::plan_epoch(examples.lengths(), options, 0))
    loss += batch_loss(
        model, context, examples.batch(indices, 0),
        {.label_smoothing = static_cast<float>(config.optimizer.label_smoothing_factor)});
  return loss;
}

}  // namespace

ValidationRecord validate(model::Transformer& model, Compute compute, const Task& task,
                          const TrainConfig& config) {
  ValidationRecord record;
  const model::PackedScope packed(model, compute);
  const ops::Loss loss = loss_of(model, compute, task.valid(), config);
  record.loss = loss.mean();
  record.perplexity = loss.perplexity();
  task.evaluate(model, compute, record);
  return record;
}

}  // namespace heed::train
