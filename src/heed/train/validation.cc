#include "heed/train/validation.h"

#include "heed/train/batch_loss.h"

namespace heed::train {
namespace {

/// Packs a model's weights for its lifetime.
class Packed {
 public:
  Packed(model::Transformer& model, DType dtype) : model_(model) { model_.pack(dtype); }
  ~Packed() { model_.unpack(); }
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;

 private:
  model::Transformer& model_;
};

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
  const Packed packed(model, dtype);
  const ops::Loss loss = loss_of(model, dtype, task.valid(), config);
  record.loss = loss.mean();
  record.perplexity = loss.perplexity();
  task.judge(model, dtype, record);
  return record;
}

}  // namespace heed::train
