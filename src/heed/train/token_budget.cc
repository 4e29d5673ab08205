#include "heed/train/token_budget.h"

#include <algorithm>
#include <vector>

#include "heed/base/error.h"
#include "heed/tensor/allocator.h"
#include "heed/train/batch_loss.h"

namespace heed::train {
namespace {

constexpr int64_t kSequence = 32;
constexpr int64_t kSmallest = 128;
constexpr double kShare = 0.75;

/// Sequences of `tokens` tokens for all stacks that the model has.
data::Batch batch_of(const model::ModelConfig& config, int64_t tokens) {
  const std::vector<int32_t> ids(static_cast<size_t>(tokens), 0);
  std::vector<int32_t> offsets;
  const int64_t length = std::min(kSequence, config.max_positions);
  for (int64_t begin = 0; begin < tokens; begin += length)
    offsets.push_back(static_cast<int32_t>(begin));
  offsets.push_back(static_cast<int32_t>(tokens));
  return {.source = ids,
          .source_offsets = offsets,
          .decoder_input = ids,
          .target_offsets = offsets,
          .target = ids,
          .rows = {},
          .examples = {}};
}

/// Bytes that a training step over `tokens` tokens of each stack takes at its peak.
int64_t bytes_of_step(const model::Transformer& model, Gradients& gradients, DType dtype,
                      int64_t tokens) {
  const data::Batch batch = batch_of(model.config(), tokens);
  const size_t before = allocated_bytes();
  reset_peak_allocated_bytes();
  Tape tape(gradients);
  Context context{.tape = &tape, .dtype = dtype};
  batch_loss(model, context, batch, {});
  tape.backward();
  return static_cast<int64_t>(peak_allocated_bytes() - before);
}

}  // namespace

int64_t token_budget_that_fits(const model::Transformer& model, Gradients& gradients, DType dtype,
                               int64_t wanted, int64_t available_bytes) {
  const int64_t small = bytes_of_step(model, gradients, dtype, kSmallest);
  const int64_t twice = bytes_of_step(model, gradients, dtype, 2 * kSmallest);
  gradients.set_zero();
  const double per_token = static_cast<double>(std::max<int64_t>(twice - small, 1)) / kSmallest;
  const double fixed = std::max(0.0, static_cast<double>(small) - per_token * kSmallest);
  const double room = kShare * static_cast<double>(available_bytes) - fixed;
  const double fitting = room / per_token;
  require(fitting >= kSmallest,
          "{} MB of memory are available, too few to train this model on even {} tokens at a time",
          available_bytes >> 20, kSmallest);
  return fitting < static_cast<double>(wanted) ? static_cast<int64_t>(fitting) : wanted;
}

}  // namespace heed::train
