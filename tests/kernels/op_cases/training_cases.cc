// Kernels of training alone: embeddings, losses, Adam.
#include <array>

#include "heed/kernels/adam.h"
#include "heed/kernels/cross_entropy.h"
#include "heed/kernels/embedding.h"
#include "heed/kernels/softmax.h"
#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

/// Classes below `count`; low ones are common, as in text.
std::vector<int32_t> random_classes(int64_t rows, int64_t count, uint64_t seed) {
  std::vector<int32_t> classes;
  const CounterRandom random(seed);
  for (int64_t n = 0; n < rows; ++n) {
    const double u = random.uniform(static_cast<uint64_t>(n));
    classes.push_back(static_cast<int32_t>(u * u * u * static_cast<double>(count)));
  }
  return classes;
}

Tensor weights_on_host(int64_t cols, DType dtype) {
  const DeviceScope host(nullptr);
  Tensor y = normals({3, cols}, 30, dtype, 4.0f);
  reference::softmax_forward(y, y);
  return y;
}

const AddOpCases softmax_backward_cases([] {
  std::vector<OpCase> cases;
  for (const int64_t cols : {1, 31, 1000})
    for (const DType dtype : kFloating)
      cases.push_back({"softmax backward of " + std::to_string(cols), [=] {
                         const Tensor y = input(weights_on_host(cols, dtype));
                         const Tensor dy = normal_input({3, cols}, 31, dtype);
                         Tensor dx = result({3, cols}, dtype);
                         softmax_backward(y, dy, dx);
                         return std::vector<OpResult>{{"dx", dx, cols == 1 ? 0.1 : 0.05}};
                       }});
  return cases;
});

const AddOpCases embedding_backward_cases([] {
  std::vector<OpCase> cases;
  for (const int64_t cols : {1, 17, 130})
    for (const DType dtype : kFloating)
      for (const int64_t rows : {0, 1, 150})
        cases.push_back({"embedding backward of " + std::to_string(rows) + " rows", [=] {
                           const Tensor dy = normal_input({rows, cols}, 54, dtype);
                           Tensor d_table = normal_input({50, cols}, 55);
                           embedding_backward(random_classes(rows, 50, 50), dy, 3.5f, d_table);
                           return std::vector<OpResult>{{"d_table", d_table, 30.0}};
                         }});
  return cases;
});

std::vector<OpResult> run_cross_entropy(const Tensor& logits, CrossEntropyOptions options,
                                        DType dtype, double magnitude) {
  const std::vector<int32_t> targets = random_classes(logits.rows(), logits.cols(), 40);
  Tensor losses = result({logits.rows(), 2}), only_losses = result({logits.rows(), 2});
  Tensor d_logits = result(logits.shape(), dtype), in_place = logits.clone(), absent;
  cross_entropy(logits, targets, options, losses, d_logits);
  cross_entropy(logits, targets, options, only_losses, absent);
  Tensor again = result({logits.rows(), 2});
  cross_entropy(in_place, targets, options, again, in_place);
  return {{"losses", losses, magnitude},
          {"losses alone", only_losses, magnitude},
          {"d_logits", d_logits, 0.01},
          {"in place", in_place, 0.01}};
}

Tensor logits_with(float odd) {
  const DeviceScope host(nullptr);
  Tensor logits = normals({2, 40}, 45);
  logits.data<float>()[39] = odd;
  return logits;
}

const AddOpCases cross_entropy_cases([] {
  std::vector<OpCase> cases;
  for (const int64_t cols : {1, 3, 17, 1000, 5003})
    for (const DType dtype : kFloating)
      for (const float smoothing : {0.0f, 0.1f}) {
        const float spread = smoothing > 0.0f ? 50.0f : 2.0f;
        cases.push_back({"cross entropy of " + std::to_string(cols), [=] {
                           return run_cross_entropy(normal_input({3, cols}, 41, DType::f32, spread),
                                                    {smoothing, 0.25f}, dtype, spread);
                         }});
      }
  for (const float cap : {2.0f, 30.0f})
    cases.push_back({"cross entropy with a cap", [=] {
                       return run_cross_entropy(normal_input({3, 333}, 41, DType::f32, 20.0f),
                                                {0.1f, 0.25f, cap}, DType::bf16, 20.0);
                     }});
  for (const float odd : {-INFINITY, NAN})
    cases.push_back(
        {"cross entropy with " + std::to_string(odd), [=] {
           return run_cross_entropy(input(logits_with(odd)), {0.0f, 1.0f}, DType::f32, 1.0);
         }});
  return cases;
});

AdamOptions adam_options_at(int step) {
  AdamOptions options;
  options.learning_rate = 0.01f;
  options.weight_decay = 0.1f;
  options.gradient_scale = 0.5f;
  options.bias_correction1 = 1.0f - std::pow(options.beta1, static_cast<float>(step));
  options.bias_correction2 = 1.0f - std::pow(options.beta2, static_cast<float>(step));
  return options;
}

/// Parameters of several sizes, one of them without a gradient, one that does not decay.
std::vector<OpResult> run_adam() {
  constexpr std::array<int64_t, 6> kSizes{7, 0, 8200, 1, 4096, 300};
  std::vector<Tensor> values, moments1, moments2;
  for (const int64_t size : kSizes) {
    values.push_back(normal_input({size}, 60));
    moments1.push_back(normal_input({size}, 61, DType::f32, 0.1f));
    moments2.push_back(Tensor::full({size}, 0.5f));
  }
  std::vector<OpResult> results;
  for (int step = 1; step <= 3; ++step) {
    std::vector<Tensor> gradients;
    for (const int64_t size : kSizes)
      gradients.push_back(normal_input({size}, static_cast<uint64_t>(70 + step)));
    gradients[5] = {};
    std::vector<AdamState> states;
    for (size_t i = 0; i < kSizes.size(); ++i)
      states.push_back({values[i], gradients[i], moments1[i], moments2[i], i != 3});
    adam_steps(states, adam_options_at(step));
    for (const Tensor& gradient : gradients) EXPECT_FALSE(gradient.defined());
  }
  for (size_t i = 0; i < kSizes.size(); ++i) {
    const std::string of = " of parameter " + std::to_string(i);
    results.push_back({"value" + of, values[i], 0.1});
    results.push_back({"moment1" + of, moments1[i], 0.1});
    results.push_back({"moment2" + of, moments2[i], 0.1});
  }
  return results;
}

const AddOpCases adam_cases([] {
  return std::vector<OpCase>{{"Adam", run_adam}, {"Adam of nothing", [] {
                                                    adam_steps({}, adam_options_at(1));
                                                    return std::vector<OpResult>{};
                                                  }}};
});

}  // namespace
}  // namespace heed::kernels
