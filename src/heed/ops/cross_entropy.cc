#include "heed/ops/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/kernels/column_sums.h"
#include "heed/kernels/matmul.h"
#include "heed/ops/int8_rounding.h"
#include "heed/ops/logit_rows.h"
#include "heed/ops/multiply.h"

namespace heed::ops {
namespace {

void check_targets(std::span<const int32_t> targets, int64_t rows, int64_t classes) {
  require(static_cast<int64_t>(targets.size()) == rows,
          "cross_entropy: there are {} rows and {} targets, expected one target per row", rows,
          targets.size());
  for (const int32_t target : targets)
    require(target >= 0 && target < classes, "cross_entropy: a target is {}, expected 0 to {}",
            target, classes - 1);
}

}  // namespace

double Loss::perplexity() const {
  return std::exp(negative_log_likelihood / static_cast<double>(tokens));
}

Loss& Loss::operator+=(const Loss& other) {
  smoothed += other.smoothed;
  negative_log_likelihood += other.negative_log_likelihood;
  tokens += other.tokens;
  return *this;
}

Loss cross_entropy(Context& context, const Tensor& x, const Parameter& weight,
                   const Parameter& bias, std::span<const int32_t> targets,
                   kernels::CrossEntropyOptions options) {
  const int64_t classes = weight.value.rows(), rows = x.rows();
  check_linear(x, weight, bias);
  check_targets(targets, rows, classes);
  Tensor dx, trained, in = x;
  if (context.tape) {
    context.tape->use(weight, x.dtype());
    if (bias.present()) context.tape->use(bias);
    dx = Tensor::empty(x.shape(), x.dtype());
    trained = context.rounds_to_int8 ? rounded_to_int8(weight, x.dtype()) : weight.read(x.dtype());
    if (context.rounds_to_int8) in = rounded_to_int8(x);
  }

  Loss loss{.tokens = rows};
  const int64_t step = rows_at_a_time(rows, classes);
  for (int64_t begin = 0; begin < rows; begin += step) {
    const int64_t end = std::min(begin + step, rows);
    const Tensor chunk = in.row_slice(begin, end);
    Tensor logits = Tensor::empty({end - begin, classes});
    if (context.tape)
      kernels::matmul({chunk}, {trained, true}, {.bias = bias.value}, logits);
    else
      multiply(chunk, weight, bias, logits);
    Tensor losses = Tensor::empty({end - begin, 2});
    Tensor d_logits;
    if (context.tape)
      d_logits = x.dtype() == DType::f32 ? logits : Tensor::empty(logits.shape(), x.dtype());
    kernels::cross_entropy(logits, targets.subspan(begin, end - begin), options, losses, d_logits);
    losses = losses.to(nullptr);
    for (int64_t row = 0; row < end - begin; ++row) {
      loss.smoothed += losses.data<float>()[2 * row];
      loss.negative_log_likelihood += losses.data<float>()[2 * row + 1];
    }
    if (!context.tape) continue;
    Tensor d_chunk = dx.row_slice(begin, end);
    kernels::matmul({d_logits}, {trained}, {}, d_chunk);
    if (weight.trainable) {
      auto [d_weight, accumulate] = context.tape->gradient(weight).slot();
      kernels::matmul({d_logits, true}, {chunk}, {.accumulate = accumulate}, d_weight);
    }
    if (bias.present() && bias.trainable)
      kernels::column_sums(d_logits, context.tape->gradient(bias).materialized());
  }
  if (context.tape) context.tape->add(x, dx);
  return loss;
}

}  // namespace heed::ops
