#include "heed/generate/logits.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/argmax.h"
#include "heed/kernels/softmax.h"
#include "heed/kernels/top_k.h"

namespace heed::generate {

namespace {

void require_finite(float largest) {
  require(std::isfinite(largest), "the model's logits are not finite: its weights are damaged");
}

}  // namespace

void check_logits(const Tensor& logits) {
  const auto classes = static_cast<size_t>(logits.cols());
  parallel_for(logits.rows(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const auto values =
          logits.values<float>().subspan(static_cast<size_t>(row) * classes, classes);
      const int64_t largest = kernels::argmax(values);  // -1 if there is a NaN
      require_finite(largest < 0 ? kForbiddenLogit : values[static_cast<size_t>(largest)]);
    }
  });
}

Tensor checked_logits(const model::Transformer& model, Context& context, const Tensor& states) {
  Tensor logits = model.logits(context, states).to(nullptr);
  check_logits(logits);
  return logits;
}

Logits::Logits(Tensor logits, const LogitsNeeded& needed, int64_t vocabulary)
    : logits_(std::move(logits)), vocabulary_(vocabulary) {
  const DeviceScope scope(logits_.device());
  if (!logits_.device() || needed.largest == 0) {
    all();
    return;
  }
  Tensor values = Tensor::empty({rows(), needed.largest});
  Tensor tokens = Tensor::empty({rows(), needed.largest}, DType::i32);
  kernels::top_k(logits_, needed.largest, values, tokens);
  if (needed.log_sum_exp) {
    Tensor sums = Tensor::empty({rows(), 2});
    kernels::log_sum_exp(logits_, sums);
    log_sum_exp_ = sums.to(nullptr);
  }
  largest_ = values.to(nullptr);
  tokens_ = tokens.to(nullptr);
}

Logits Logits::slice(int64_t begin, int64_t end) const {
  const auto of = [&](const Tensor& tensor) {
    return tensor.defined() ? tensor.row_slice(begin, end) : Tensor();
  };
  Logits rows;
  rows.logits_ = of(logits_);
  rows.largest_ = of(largest_);
  rows.tokens_ = of(tokens_);
  rows.log_sum_exp_ = of(log_sum_exp_);
  rows.vocabulary_ = vocabulary_;
  rows.listed_ = listed_;
  return rows;
}

Logits Logits::only(const TokenList& tokens) {
  const Tensor& from = all();
  Tensor chosen = Tensor::empty({rows(), std::ssize(*tokens)});
  const float* in = from.data<float>();
  float* out = chosen.data<float>();
  for (int64_t row = rows(), width = from.cols(); row > 0; --row, in += width)
    for (const int32_t token : *tokens) *out++ = in[token];
  return {std::move(chosen), tokens};
}

size_t Logits::column_of(int32_t token) const {
  if (!listed_) return static_cast<size_t>(token);
  return static_cast<size_t>(std::ranges::lower_bound(*listed_, token) - listed_->begin());
}

void Logits::check() {
  if (!has_largest()) return check_logits(logits_);
  for (int64_t row = 0; row < rows(); ++row)
    require_finite(largest_.data<float>()[row * largest_.cols()]);
}

Tensor& Logits::all() {
  if (logits_.device()) logits_ = logits_.to(nullptr);
  return logits_;
}

TokenLogits Logits::all(int64_t row) {
  const std::span own(all().data<float>() + row * logits_.cols(),
                      static_cast<size_t>(std::min(vocabulary_, logits_.cols())));
  return listed_ ? TokenLogits(own, *listed_, kForbiddenLogit) : TokenLogits(own);
}

TokenLogits Logits::largest(int64_t row) {
  const int64_t count = largest_.cols();
  const std::span values(largest_.data<float>() + row * count, static_cast<size_t>(count));
  int32_t* const tokens = tokens_.data<int32_t>() + row * count;
  const float bound = tokens[count - 1] < 0 ? kForbiddenLogit : values.back();
  std::replace_if(
      tokens, tokens + count, [&](int32_t token) { return token >= vocabulary_; }, -1);
  return {values, {tokens, static_cast<size_t>(count)}, bound};
}

float Logits::log_probability(int64_t row, float logit) const {
  const float* const sums = log_sum_exp_.data<float>() + 2 * row;
  return (logit - sums[0]) - sums[1];
}

TokenLogits Logits::largest_log_probabilities(int64_t row) {
  float* const logits = largest_.data<float>() + row * largest_.cols();
  std::transform(logits, logits + largest_.cols(), logits,
                 [&](float logit) { return log_probability(row, logit); });
  return largest(row);
}

}  // namespace heed::generate
