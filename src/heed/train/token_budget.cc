#include "heed/train/token_budget.h"

#include <algorithm>
#include <vector>

#include "heed/base/error.h"
#include "heed/tensor/allocator.h"

namespace heed::train {
namespace {

constexpr int64_t kSequence = 32;
constexpr int64_t kSmallest = 128;
constexpr double kShare = 0.75;

/// Bytes that a training step over `tokens` source and target tokens takes at its peak.
int64_t bytes_of_step(model::Transformer& model, DType dtype, int64_t tokens) {
  std::vector<int32_t> ids(static_cast<size_t>(tokens), model.config().eos_id), offsets;
  const int64_t length = std::min(kSequence, model.config().max_positions);
  for (int64_t begin = 0; begin < tokens; begin += length)
    offsets.push_back(static_cast<int32_t>(begin));
  offsets.push_back(static_cast<int32_t>(tokens));
  const size_t before = allocated_bytes();
  reset_peak_allocated_bytes();
  Tape tape;
  Context context{.tape = &tape, .dtype = dtype};
  model.loss(context, {ids, offsets}, {ids, offsets}, ids, {});
  tape.backward();
  return static_cast<int64_t>(peak_allocated_bytes() - before);
}

}  // namespace

int64_t token_budget_that_fits(model::Transformer& model, DType dtype, int64_t wanted,
                               int64_t available_bytes) {
  const int64_t small = bytes_of_step(model, dtype, kSmallest);
  const int64_t twice = bytes_of_step(model, dtype, 2 * kSmallest);
  model.parameters().zero_gradients();
  const double per_token = static_cast<double>(std::max<int64_t>(twice - small, 1)) / kSmallest;
  const double fixed = std::max(0.0, static_cast<double>(small) - per_token * kSmallest);
  const double room = kShare * static_cast<double>(available_bytes) - fixed;
  const auto fitting = static_cast<int64_t>(room / per_token);
  require(fitting >= kSmallest,
          "{} MB of memory are available, too few to train this model on even {} tokens at a time",
          available_bytes >> 20, kSmallest);
  return std::min(wanted, fitting);
}

}  // namespace heed::train
