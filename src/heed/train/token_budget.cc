#include "heed/train/token_budget.h"

#include <algorithm>
#include <vector>

#include "heed/base/error.h"
#include "heed/tensor/allocator.h"
#include "heed/train/batch_loss.h"

namespace heed::train {
namespace {

constexpr int64_t kSequenceTokens = 32;
constexpr int64_t kMinTokens = 128;
constexpr double kUsableFraction = 0.75;

/// A batch with `tokens` tokens for each stack.
data::Batch batch_of(const model::ModelConfig& config, int64_t tokens) {
  const std::vector<int32_t> ids(static_cast<size_t>(tokens), 0);
  std::vector<int32_t> offsets;
  const int64_t length = std::min(kSequenceTokens, config.max_positions);
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

/// Peak bytes of a forward and backward pass over `tokens` tokens of each stack.
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
  const int64_t small = bytes_of_step(model, gradients, dtype, kMinTokens);
  const int64_t twice = bytes_of_step(model, gradients, dtype, 2 * kMinTokens);
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

}  // namespace heed::train
