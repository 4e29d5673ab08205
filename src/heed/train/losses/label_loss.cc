#include "heed/train/losses/label_loss.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"

namespace heed::train {
namespace {

/// The loss of a row of logits, and its gradient in f64.
struct RowLoss {
  double weighted = 0, plain = 0;
};

double weight_of(const data::Labels& labels, size_t label) {
  return labels.weights.empty() ? 1.0 : static_cast<double>(labels.weights[label]);
}

RowLoss cross_entropy_row(std::span<const float> x, size_t target, double weight,
                          std::span<double> gradient) {
  const auto largest = static_cast<double>(std::ranges::max(x));
  double sum = 0;
  for (size_t c = 0; c < x.size(); ++c)
    sum += gradient[c] = std::exp(static_cast<double>(x[c]) - largest);
  for (size_t c = 0; c < x.size(); ++c)
    gradient[c] = weight * (gradient[c] / sum - (c == target ? 1.0 : 0.0));
  const double loss = std::log(sum) + largest - static_cast<double>(x[target]);
  return {weight * loss, loss};
}

/// log(1 + exp(x)).
double log1p_exp(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

RowLoss binary_row(std::span<const float> x, std::span<const float> y, const data::Labels& labels,
                   std::span<double> gradient) {
  const double each = 1.0 / static_cast<double>(x.size());
  RowLoss loss;
  for (size_t c = 0; c < x.size(); ++c) {
    const auto logit = static_cast<double>(x[c]), target = static_cast<double>(y[c]);
    const double positive = weight_of(labels, c) * target, negative = 1.0 - target;
    const double if_positive = log1p_exp(-logit), if_negative = log1p_exp(logit);
    loss.weighted += each * (positive * if_positive + negative * if_negative);
    loss.plain += each * (target * if_positive + negative * if_negative);
    const double probability = 1.0 / (1.0 + std::exp(-logit));
    gradient[c] = each * (negative * probability - positive * (1.0 - probability));
  }
  return loss;
}

RowLoss squared_row(std::span<const float> x, std::span<const float> y,
                    std::span<double> gradient) {
  const double each = 1.0 / static_cast<double>(x.size());
  RowLoss loss;
  for (size_t c = 0; c < x.size(); ++c) {
    const double error = static_cast<double>(x[c]) - static_cast<double>(y[c]);
    loss.weighted += each * error * error;
    gradient[c] = each * 2.0 * error;
  }
  return loss;
}

ops::Loss margin_loss(const Tensor& x, const data::Labels& labels, double gradient_scale,
                      Tensor& dx) {
  const auto logits = x.values<float>();
  ops::Loss loss{.tokens = labels.terms()};
  size_t value = 0;
  for (size_t i = 0; i + 1 < labels.offsets.size(); ++i) {
    const auto first = static_cast<size_t>(labels.offsets[i]),
               end = static_cast<size_t>(labels.offsets[i + 1]);
    const double each = 1.0 / static_cast<double>(end - first - 1);
    double sum = 0;
    for (size_t n = first + 1; n < end; ++n) {
      const double error = static_cast<double>(logits[first]) - static_cast<double>(logits[n]) -
                           static_cast<double>(labels.values[value++]);
      loss.smoothed += each * error * error;
      const double slope = gradient_scale * each * 2.0 * error;
      sum += slope;
      if (dx.defined()) dx.data<float>()[n] = static_cast<float>(-slope);
    }
    if (dx.defined()) dx.data<float>()[first] = static_cast<float>(sum);
  }
  return loss;
}

int64_t logit_rows(const data::Labels& labels) {
  return labels.loss == data::LabelLoss::margin_mse ? int64_t{labels.offsets.back()}
                                                    : labels.terms();
}

}  // namespace

ops::Loss label_loss(Context& context, const Tensor& logits, const data::Labels& labels,
                     float gradient_scale) {
  const auto width = static_cast<size_t>(labels.count);
  require(logits.rows() == logit_rows(labels) && logits.cols() == labels.count,
          "there are logits {} for {} rows of {} labels", logits.shape().text(), logit_rows(labels),
          labels.count);
  const Tensor x = ops::to_f32(context, logits);
  Tensor dx = context.tape ? Tensor::empty(x.shape()) : Tensor();
  if (labels.loss == data::LabelLoss::margin_mse) {
    const ops::Loss loss = margin_loss(x, labels, static_cast<double>(gradient_scale), dx);
    if (context.tape) context.tape->add(x, dx);
    return loss;
  }
  ops::Loss loss{.tokens = labels.terms()};
  std::vector<double> gradient(width);
  for (size_t row = 0; row < static_cast<size_t>(x.rows()); ++row) {
    const auto own = x.values<float>().subspan(row * width, width);
    RowLoss of_row;
    if (labels.loss == data::LabelLoss::cross_entropy) {
      const auto target = static_cast<size_t>(labels.classes[row]);
      of_row = cross_entropy_row(own, target, weight_of(labels, target), gradient);
    } else {
      const auto values = std::span(labels.values).subspan(row * width, width);
      of_row = labels.loss == data::LabelLoss::binary_cross_entropy
                   ? binary_row(own, values, labels, gradient)
                   : squared_row(own, values, gradient);
    }
    loss.smoothed += of_row.weighted;
    loss.negative_log_likelihood += of_row.plain;
    if (!context.tape) continue;
    for (size_t c = 0; c < width; ++c)
      dx.data<float>()[row * width + c] =
          static_cast<float>(gradient[c] * static_cast<double>(gradient_scale));
  }
  if (context.tape) context.tape->add(x, dx);
  return loss;
}

}  // namespace heed::train
