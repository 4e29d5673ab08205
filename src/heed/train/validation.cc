#include "heed/train/validation.h"

#include "heed/train/batch_loss.h"

namespace heed::train {
namespace {

ops::Loss loss_of(const model::Transformer& model, DType dtype, const data::Dataset& examples,
                  const TrainConfig& config) {
  ops::Loss loss;
  Context context{.dtype = dtype};
  const data::BatchOptions options{.token_budget = config.run.token_budget};
  for (const auto& indices : data::plan_epoch(examples.lengths(), options, 0))
    loss += batch_loss(model, context, examples.batch(indices, 0),
                       {.label_smoothing = static_cast<float>(config.optimizer.label_smoothing)});
  return loss;
}

}  // namespace

ValidationRecord validate(model::Transformer& model, DType dtype, const Task& task,
                          const TrainConfig& config) {
  ValidationRecord record;
  model.pack(dtype);
  const ops::Loss loss = loss_of(model, dtype, task.valid(), config);
  record.loss = loss.mean();
  record.perplexity = loss.perplexity();
  task.judge(model, dtype, record);
  model.unpack();
  return record;
}

}  // namespace heed::train
