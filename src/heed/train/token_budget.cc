#include "heed/train/token_budget.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "heed/base/duration.h"
#include "heed/base/error.h"
#include "heed/tensor/allocator.h"
#include "heed/train/batch_loss.h"
#include "heed/train/checkpoints/dense_modules.h"

namespace heed::train {
namespace {

constexpr int64_t kSequenceTokens = 32;
constexpr int64_t kMinTokens = 128;
constexpr double kUsableFraction = 0.75;

/// The first label for each text, or for each token.
data::Labels labels_of(const model::ModelConfig& config, int64_t texts, int64_t tokens) {
  data::Labels labels{.loss = data::LabelLoss::cross_entropy,
                      .count = std::ssize(config.classifier.labels)};
  const bool of_tokens = config.classifier.kind == model::ClassifierConfig::Kind::token;
  labels.classes.resize(static_cast<size_t>(of_tokens ? tokens : texts));
  return labels;
}

/// All texts are compared with the first one. Functions of Dense modules cost next to nothing.
data::Batch vectors_batch(const std::vector<int32_t>& ids, const std::vector<int32_t>& offsets,
                          size_t dense_modules) {
  data::Batch batch;
  batch.source = ids;
  batch.source_offsets = offsets;
  batch.groups.options.loss = data::VectorLoss::infonce;
  batch.groups.options.dense.resize(dense_modules);
  batch.groups.offsets = {0, static_cast<int32_t>(offsets.size()) - 1};
  for (size_t text = 0; text + 1 < offsets.size(); ++text) batch.groups.texts.push_back(text);
  return batch;
}

/// A batch with `tokens` tokens for each stack.
data::Batch batch_of(const model::Transformer& model, int64_t tokens) {
  const model::ModelConfig& config = model.config();
  const std::vector<int32_t> ids(static_cast<size_t>(tokens), 0);
  std::vector<int32_t> offsets;
  const int64_t length = std::min(kSequenceTokens, config.max_positions);
  for (int64_t begin = 0; begin < tokens; begin += length)
    offsets.push_back(static_cast<int32_t>(begin));
  offsets.push_back(static_cast<int32_t>(tokens));
  if (config.classifier.present()) {
    data::Batch batch;
    batch.source = ids;
    batch.source_offsets = offsets;
    batch.labels = labels_of(config, std::ssize(offsets) - 1, tokens);
    return batch;
  }
  if (!config.has_head) return vectors_batch(ids, offsets, dense_parameters(model).size());
  return {.source = ids,
          .source_offsets = offsets,
          .decoder_input = ids,
          .target_offsets = offsets,
          .target = ids,
          .rows = {},
          .examples = {}};
}

/// A forward and backward pass.
void pass_over(const model::Transformer& model, Gradients& gradients, DType dtype,
               const data::Batch& batch) {
  Tape tape(gradients);
  Context context{.tape = &tape, .dtype = dtype};
  batch_loss(model, context, batch, {});
  tape.backward();
}

/// Peak bytes of a pass over `tokens` tokens of each stack.
int64_t bytes_of_pass(const model::Transformer& model, Gradients& gradients, DType dtype,
                      int64_t tokens) {
  const data::Batch batch = batch_of(model, tokens);
  const size_t before = allocated_bytes();
  reset_peak_allocated_bytes();
  pass_over(model, gradients, dtype, batch);
  return static_cast<int64_t>(peak_allocated_bytes() - before);
}

}  // namespace

int64_t token_budget_that_fits(const model::Transformer& model, Gradients& gradients, DType dtype,
                               int64_t wanted, int64_t available_bytes) {
  const int64_t small = bytes_of_pass(model, gradients, dtype, kMinTokens);
  const int64_t twice = bytes_of_pass(model, gradients, dtype, 2 * kMinTokens);
  gradients.set_zero();
  const double per_token = static_cast<double>(std::max<int64_t>(twice - small, 1)) / kMinTokens;
  const double fixed = std::max(0.0, static_cast<double>(small) - per_token * kMinTokens);
  const double room = kUsableFraction * static_cast<double>(available_bytes) - fixed;
  const double fitting = room / per_token;
  require(
      fitting >= kMinTokens,
      "{} MB of memory are available, too little to train this model on batches of even {} tokens",
      available_bytes >> 20, kMinTokens);
  return fitting < static_cast<double>(wanted) ? static_cast<int64_t>(fitting) : wanted;
}

double seconds_of_batch(const model::Transformer& model, Gradients& gradients, DType dtype,
                        int64_t tokens) {
  using Clock = std::chrono::steady_clock;
  const data::Batch batch = batch_of(model, tokens);
  double fastest = std::numeric_limits<double>::infinity();
  for (int pass = 0; pass < 2; ++pass) {
    const auto begin = Clock::now();
    pass_over(model, gradients, dtype, batch);
    fastest = std::min(fastest, seconds_between(begin, Clock::now()));
  }
  gradients.set_zero();
  return fastest;
}

int64_t token_budget_for_steps(int64_t wanted, double steps, int64_t min_steps) {
  const double fraction = std::clamp(steps / static_cast<double>(min_steps), 0.5, 1.0);
  return static_cast<int64_t>(fraction * static_cast<double>(wanted));
}

}  // namespace heed::train
