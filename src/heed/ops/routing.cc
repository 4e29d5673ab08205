#include "heed/ops/routing.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "heed/base/error.h"
#include "heed/kernels/experts.h"
#include "heed/kernels/sigmoid.h"
#include "heed/ops/check.h"

namespace heed::ops {
namespace {

void check(const Tensor& probabilities, const RoutingOptions& o, const Tensor& bias) {
  require(probabilities.defined() && probabilities.dtype() == DType::f32,
          "route: the probabilities are missing or not f32");
  const int64_t experts = probabilities.cols();
  require(o.n_group > 0 && experts % o.n_group == 0,
          "route: {} experts cannot be divided into {} groups", experts, o.n_group);
  require(o.topk_group > 0 && o.topk_group <= o.n_group,
          "route: topk_group is {}, expected 1 to {}, the number of groups", o.topk_group,
          o.n_group);
  require(o.best_of_group > 0, "route: best_of_group is {}, expected at least 1", o.best_of_group);
  if (bias.defined()) check_shape("route", "the bias", bias, {experts});
  const int64_t eligible = o.topk_group * (experts / o.n_group);
  require(o.top_k > 0 && o.top_k <= eligible,
          "route: top_k is {}, expected 1 to {}, the number of eligible experts", o.top_k,
          eligible);
}

/// Indices of the k largest of the eligible values, the largest first; ties go to the lower index.
/// `eligible` is restored before this returns.
void top_k_of(std::span<const float> values, std::vector<char>& eligible, int64_t k,
              std::vector<int32_t>& indices) {
  indices.clear();
  for (int64_t count = 0; count < k; ++count) {
    int32_t best = -1;
    for (int32_t i = 0; i < static_cast<int32_t>(values.size()); ++i) {
      const size_t at = static_cast<size_t>(i);
      if (eligible[at] && (best < 0 || values[at] > values[static_cast<size_t>(best)])) best = i;
    }
    indices.push_back(best);
    eligible[static_cast<size_t>(best)] = 0;
  }
  for (const int32_t i : indices) eligible[static_cast<size_t>(i)] = 1;
}

float sum_of(std::span<const float> values) {
  float sum = 0.0f;
  for (const float value : values) sum += value;
  return sum;
}

/// Selects the experts of one row after another.
class Selector {
 public:
  Selector(const RoutingOptions& options, int64_t experts)
      : options_(options),
        group_size_(static_cast<size_t>(experts / options.n_group)),
        eligible_(static_cast<size_t>(experts), 1),
        group_scores_(static_cast<size_t>(options.n_group)),
        all_groups_(static_cast<size_t>(options.n_group), 1) {}

  /// Ascending.
  const std::vector<int32_t>& select(std::span<const float> probabilities) {
    if (options_.topk_group < options_.n_group) limit_to_groups(probabilities);
    top_k_of(probabilities, eligible_, options_.top_k, selected_);
    std::sort(selected_.begin(), selected_.end());
    return selected_;
  }

 private:
  void limit_to_groups(std::span<const float> probabilities) {
    for (size_t g = 0; g < group_scores_.size(); ++g) {
      const auto group = probabilities.subspan(g * group_size_, group_size_);
      sorted_.assign(group.begin(), group.end());
      const size_t best = std::min(static_cast<size_t>(options_.best_of_group), group_size_);
      std::partial_sort(sorted_.begin(), sorted_.begin() + static_cast<std::ptrdiff_t>(best),
                        sorted_.end(), std::greater<float>());
      group_scores_[g] = sum_of(std::span(sorted_).first(best));
    }
    top_k_of(group_scores_, all_groups_, options_.topk_group, selected_);
    std::fill(eligible_.begin(), eligible_.end(), char{0});
    for (const int32_t g : selected_)
      std::fill_n(
          eligible_.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(g) * group_size_),
          group_size_, char{1});
  }

  const RoutingOptions& options_;
  size_t group_size_;
  std::vector<char> eligible_;
  std::vector<float> group_scores_, sorted_;
  std::vector<char> all_groups_;
  std::vector<int32_t> selected_;
};

/// weights = p scale, or p scale / sum(p), for the probabilities p of a row's selected experts.
void weigh(std::span<const float> p, const RoutingOptions& options, std::span<float> weights) {
  const float factor = options.normalize ? options.scale / sum_of(p) : options.scale;
  for (size_t k = 0; k < p.size(); ++k) weights[k] = p[k] * factor;
}

/// The gradient of weigh() with respect to p.
void differentiate(std::span<const float> p, std::span<const float> d_weights,
                   const RoutingOptions& options, std::span<float> d_p) {
  const float sum = options.normalize ? sum_of(p) : 1.0f;
  float mean = 0.0f;
  if (options.normalize)
    for (size_t k = 0; k < p.size(); ++k) mean += d_weights[k] * p[k] / sum;
  for (size_t k = 0; k < p.size(); ++k) d_p[k] = options.scale / sum * (d_weights[k] - mean);
}

/// The entries of row n of x [N, E] for the row's experts.
std::vector<float> entries(const Tensor& x, int64_t n, std::span<const int32_t> experts) {
  std::vector<float> result;
  for (const int32_t e : experts) result.push_back(x.data<float>()[n * x.cols() + e]);
  return result;
}

}  // namespace

Routing::Routing(int64_t n_experts, int64_t top_k, std::vector<int32_t> experts, Tensor weights)
    : n_experts_(n_experts), weights_(std::move(weights)) {
  auto choices = std::make_shared<Choices>();
  choices->offsets.assign(static_cast<size_t>(n_experts) + 1, 0);
  for (const int32_t e : experts) ++choices->offsets[static_cast<size_t>(e) + 1];
  for (size_t e = 0; e < static_cast<size_t>(n_experts); ++e)
    choices->offsets[e + 1] += choices->offsets[e];
  choices->places.resize(experts.size());
  choices->rows.resize(experts.size());
  std::vector<int32_t> filled(static_cast<size_t>(n_experts), 0);
  for (size_t i = 0; i < experts.size(); ++i) {
    const size_t e = static_cast<size_t>(experts[i]);
    choices->places[i] = filled[e]++;
    choices->rows[static_cast<size_t>(choices->offsets[e] + choices->places[i])] =
        static_cast<int32_t>(static_cast<int64_t>(i) / top_k);
  }
  choices->experts = std::move(experts);
  choices_ = std::move(choices);
}

std::span<const int32_t> Routing::rows(int64_t expert) const {
  const size_t e = static_cast<size_t>(expert);
  const auto begin = static_cast<size_t>(choices_->offsets[e]);
  return std::span(choices_->rows)
      .subspan(begin, static_cast<size_t>(choices_->offsets[e + 1]) - begin);
}

Tensor sigmoid(Context& context, const Tensor& x) {
  require(x.defined() && x.dtype() == DType::f32, "sigmoid: the input is missing or not f32");
  Tensor y = Tensor::empty(x.shape());
  kernels::sigmoid(x, y);
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  tape.record(y, [&tape, x, y](const Tensor& dy) {
    Tensor dx = Tensor::empty(x.shape());
    kernels::sigmoid_backward(y, dy, dx);
    tape.add(x, dx);
  });
  return y;
}

Routing route(Context& context, const Tensor& probabilities, const RoutingOptions& options,
              const Tensor& bias) {
  check(probabilities, options, bias);
  const int64_t n_rows = probabilities.rows(), n_experts = probabilities.cols();
  const size_t top_k = static_cast<size_t>(options.top_k);
  std::vector<int32_t> experts;
  experts.reserve(static_cast<size_t>(n_rows) * top_k);
  // Experts are selected on the host, which then knows how many rows each of them has.
  const Tensor of_host = probabilities.to(nullptr), host_bias = bias.to(nullptr);
  std::vector<float> all_weights(static_cast<size_t>(n_rows) * top_k);
  Selector selector(options, n_experts);
  std::vector<float> biased(bias.defined() ? static_cast<size_t>(n_experts) : 0);
  for (int64_t n = 0; n < n_rows; ++n) {
    const auto row = of_host.values<float>().subspan(static_cast<size_t>(n * n_experts),
                                                     static_cast<size_t>(n_experts));
    if (bias.defined())
      std::ranges::transform(row, host_bias.values<float>(), biased.begin(), std::plus<float>());
    const std::vector<int32_t>& selected =
        selector.select(bias.defined() ? std::span<const float>(biased) : row);
    experts.insert(experts.end(), selected.begin(), selected.end());
    weigh(entries(of_host, n, selected), options,
          std::span(all_weights).subspan(static_cast<size_t>(n) * top_k, top_k));
  }
  const Tensor weights = Tensor::of({n_rows, options.top_k}, all_weights);
  const Routing routing(n_experts, options.top_k, std::move(experts), weights);
  if (!context.tape) return routing;

  Tape& tape = *context.tape;
  tape.record(weights, [&tape, probabilities, options, routing, top_k](const Tensor& dy) {
    const Tensor of_host = probabilities.to(nullptr), d_weights = dy.to(nullptr);
    std::vector<float> all_dp(static_cast<size_t>(probabilities.elements()), 0.0f);
    std::vector<float> d_selected(top_k);
    for (int64_t n = 0; n < probabilities.rows(); ++n) {
      const auto selected = routing.experts().subspan(static_cast<size_t>(n) * top_k, top_k);
      differentiate(entries(of_host, n, selected),
                    d_weights.values<float>().subspan(static_cast<size_t>(n) * top_k, top_k),
                    options, d_selected);
      for (size_t k = 0; k < top_k; ++k)
        all_dp[static_cast<size_t>(n * probabilities.cols() + selected[k])] = d_selected[k];
    }
    tape.add(probabilities, Tensor::of(probabilities.shape(), all_dp));
  });
  return routing;
}

Tensor combine(Context& context, const Routing& routing, const std::vector<Tensor>& outputs) {
  require(static_cast<int64_t>(outputs.size()) == routing.n_experts(),
          "combine: outputs of {} experts, expected {}", outputs.size(), routing.n_experts());
  Tensor some;  // any output: all have its width and dtype
  for (const Tensor& output : outputs)
    if (output.defined()) some = output;
  require(some.defined(), "combine: no expert has an output");
  for (size_t e = 0; e < outputs.size(); ++e) {
    const auto rows = static_cast<int64_t>(routing.rows(static_cast<int64_t>(e)).size());
    if (rows == 0 && !outputs[e].defined()) continue;
    check_shape("combine", "an expert's output", outputs[e], {rows, some.cols()});
    require(outputs[e].dtype() == some.dtype(),
            "combine: the experts' outputs are {} and {}, expected one dtype",
            name_of(outputs[e].dtype()), name_of(some.dtype()));
  }
  Tensor y = Tensor::empty({routing.weights().rows(), some.cols()}, some.dtype());
  kernels::combine_experts_forward(
      {outputs, routing.experts(), routing.places(), routing.weights()}, y);
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  tape.record(y, [&tape, routing, outputs](const Tensor& dy) {
    std::vector<Tensor> d_outputs;
    for (const Tensor& output : outputs)
      d_outputs.push_back(output.defined() ? Tensor::empty(output.shape(), output.dtype())
                                           : Tensor());
    Tensor d_weights = Tensor::empty(routing.weights().shape());
    kernels::combine_experts_backward(
        {outputs, routing.experts(), routing.places(), routing.weights()}, dy,
        {d_outputs, d_weights});
    for (size_t e = 0; e < outputs.size(); ++e)
      if (outputs[e].defined()) tape.add(outputs[e], d_outputs[e]);
    tape.add(routing.weights(), d_weights);
  });
  return y;
}

}  // namespace heed::ops
