#include "heed/train/validation.h"

#include "heed/distribute/agree.h"
#include "heed/model/packed_scope.h"
#include "heed/train/batch_loss.h"

namespace heed::train {
namespace {

constexpr size_t kNumbers = 3;  // of a loss

/// The losses of the batches that are this rank's, zeros for those of others.
std::vector<double> own_losses(const model::Transformer& model, Compute compute,
                               const data::Dataset& examples, const TrainConfig& config,
                               const distribute::Group& group) {
  Context context{.dtype = activation_dtype(compute)};
  const data::BatchOptions options{.token_budget = config.run.token_budget};
  const auto batches = data::plan_epoch(examples.lengths(), options, 0);
  std::vector<double> numbers(kNumbers * batches.size());
  const auto size = static_cast<size_t>(group.size());
  for (size_t i = static_cast<size_t>(group.rank()); i < batches.size(); i += size) {
    const ops::Loss loss = batch_loss(
        model, context, examples.batch(batches[i], 0),
        {.label_smoothing = static_cast<float>(config.optimizer.label_smoothing_factor)});
    numbers[kNumbers * i] = loss.smoothed;
    numbers[kNumbers * i + 1] = loss.negative_log_likelihood;
    numbers[kNumbers * i + 2] = static_cast<double>(loss.tokens);
  }
  return numbers;
}

/// The loss of all batches, added in their order.
ops::Loss loss_of(const std::vector<double>& own, distribute::Group& group) {
  const std::vector<double> all = group.all_gather(own);
  ops::Loss sum;
  for (size_t i = 0; kNumbers * i < own.size(); ++i) {
    const size_t rank = i % static_cast<size_t>(group.size());
    const double* const loss = all.data() + rank * own.size() + kNumbers * i;
    sum += {loss[0], loss[1], static_cast<int64_t>(loss[2])};
  }
  return sum;
}

}  // namespace

ValidationRecord validate(model::Transformer& model, Compute compute, const Task& task,
                          const TrainConfig& config, distribute::Group& group) {
  ValidationRecord record;
  const model::PackedScope packed(model, compute);
  const ops::Loss loss =
      loss_of(distribute::propagate_errors(
                  group, [&] { return own_losses(model, compute, task.valid(), config, group); }),
              group);
  record.loss = loss.mean();
  record.perplexity = loss.perplexity();
  task.evaluate(model, compute, group, record);
  return record;
}

}  // namespace heed::train
