#include "heed/ops/routing.h"

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

}  // namespace

Routing::Routing(int64_t n_experts, const Tensor& experts, Tensor weights)
    : n_experts_(n_experts), weights_(std::move(weights)) {
  auto choices = std::make_shared<Choices>();
  choices->experts = experts.to(nullptr);
  const auto numbers = choices->experts.values<int32_t>();
  choices->offsets.assign(static_cast<size_t>(n_experts) + 1, 0);
  for (const int32_t e : numbers) ++choices->offsets[static_cast<size_t>(e) + 1];
  for (size_t e = 0; e < static_cast<size_t>(n_experts); ++e)
    choices->offsets[e + 1] += choices->offsets[e];
  choices->places.resize(numbers.size());
  choices->rows.resize(numbers.size());
  std::vector<int32_t> filled(static_cast<size_t>(n_experts), 0);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t e = static_cast<size_t>(numbers[i]);
    choices->places[i] = filled[e]++;
    choices->rows[static_cast<size_t>(choices->offsets[e] + choices->places[i])] =
        static_cast<int32_t>(static_cast<int64_t>(i) / experts.cols());
  }
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
  Tensor experts = Tensor::empty({probabilities.rows(), options.top_k}, DType::i32);
  Tensor weights = Tensor::empty(experts.shape());
  kernels::select_experts(probabilities, bias, options, experts, weights);
  if (context.tape) {
    Tape& tape = *context.tape;
    tape.record(weights, [&tape, probabilities, experts, options](const Tensor& d_weights) {
      Tensor d_probabilities = Tensor::empty(probabilities.shape());
      kernels::select_experts_backward(probabilities, experts, options, d_weights, d_probabilities);
      tape.add(probabilities, d_probabilities);
    });
  }
  return Routing(probabilities.cols(), experts, weights);
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
