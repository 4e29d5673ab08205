#include "heed/train/losses/vector_gradients.h"

#include <numeric>

#include "heed/base/error.h"
#include "heed/train/distributed/gather_numbers.h"
#include "heed/train/losses/pooled_texts.h"
#include "heed/train/losses/vector_loss.h"

namespace heed::train {
namespace {

/// The vectors of batches one after the other. The passes have a tape, without which there would be
/// no dropout, and it is dropped.
std::vector<double> numbers_of(const model::Transformer& model, Gradients& gradients,
                               std::span<const data::Batch> batches, size_t begin, size_t end,
                               const StepLossOptions& options, GradientHook* hook) {
  std::vector<double> numbers;
  for (size_t i = begin; i < end; ++i) {
    Tape tape(gradients, hook);
    Context context = training_context(options, i, tape);
    const Tensor vectors = pooled_texts(model, context, batches[i]);
    const auto values = vectors.values<float>();
    numbers.insert(numbers.end(), values.begin(), values.end());
  }
  return numbers;
}

}  // namespace

bool compares_batches(std::span<const data::Batch> batches) {
  return batches.size() > 1 && batches.front().groups.present();
}

VectorGradients vector_gradients(const model::Transformer& model, Gradients& gradients,
                                 std::span<const data::Batch> batches, OwnBatches own,
                                 const StepLossOptions& options, GradientHook* hook) {
  const std::vector<double> numbers = gather_numbers(
      own.group, numbers_of(model, gradients, batches, own.begin, own.end, options, hook));
  data::TextGroups groups;
  for (const data::Batch& batch : batches) groups.append(batch.groups);
  const int64_t count = groups.vectors(), width = std::ssize(numbers) / count;
  require(count * width == std::ssize(numbers), "the ranks have {} numbers of {} vectors",
          numbers.size(), count);
  Tensor vectors = Tensor::empty({count, width});
  for (size_t i = 0; i < numbers.size(); ++i)
    vectors.data<float>()[i] = static_cast<float>(numbers[i]);
  const VectorLossResult result = vector_loss(vectors, groups);
  VectorGradients all;
  int64_t row = 0;
  auto loss = result.losses.begin();
  for (const data::Batch& batch : batches) {
    const int64_t own_vectors = batch.groups.vectors();
    all.of_batches.push_back(result.gradient.row_slice(row, row + own_vectors).clone());
    row += own_vectors;
    const double sum = std::accumulate(loss, loss + batch.groups.count(), 0.0);
    all.losses.push_back({.smoothed = sum,
                          .negative_log_likelihood = result.likelihood ? sum : 0.0,
                          .tokens = batch.groups.count()});
    loss += batch.groups.count();
  }
  return all;
}

}  // namespace heed::train
