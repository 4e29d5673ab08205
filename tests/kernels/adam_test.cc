#include "heed/kernels/adam.h"

#include <array>
#include <vector>

#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {
namespace {

struct Parameter {
  Tensor value, gradient, moment1, moment2;

  explicit Parameter(int64_t count)
      : value(normals({count}, 60)),
        gradient(normals({count}, 61)),
        moment1(Tensor::zeros({count})),
        moment2(Tensor::zeros({count})) {}

  AdamState state() { return {value, gradient, moment1, moment2}; }
};

/// The options at step t, counted from 1.
AdamOptions options_at(int t) {
  AdamOptions options;
  options.learning_rate = 0.01f;
  options.weight_decay = 0.1f;
  options.gradient_scale = 0.5f;
  options.bias_correction1 = 1.0f - std::pow(options.beta1, static_cast<float>(t));
  options.bias_correction2 = 1.0f - std::pow(options.beta2, static_cast<float>(t));
  return options;
}

TEST(Adam, CpuAgreesWithReferenceOverSeveralStepsOnEveryTarget) {
  on_every_target([](const std::string& target) {
    for (const int64_t count : kOddSizes) {
      Parameter fast(count), plain(count);
      for (int t = 1; t <= 5; ++t) {
        const Tensor gradient = normals({count}, static_cast<uint64_t>(70 + t));
        fast.gradient = gradient.clone();
        plain.gradient = gradient.clone();
        cpu::adam_steps(std::array{fast.state()}, options_at(t));
        reference::adam_steps(std::array{plain.state()}, options_at(t));
        expect_close(fast.value, plain.value, target + " value", 0.1);
        expect_close(fast.moment1, plain.moment1, target + " moment1", 0.1);
        expect_close(fast.moment2, plain.moment2, target + " moment2", 0.1);
      }
    }
  });
}

TEST(Adam, TheFirstStepHasTheSizeOfTheLearningRate) {
  for (const float size : {1e-6f, 1.0f, 1e15f}) {
    Parameter p(100);
    p.value = Tensor::zeros({100});
    p.gradient = Tensor::full({100}, -size);
    AdamOptions options = options_at(1);
    options.weight_decay = 0.0f;
    options.epsilon = 1e-12f;
    adam_step(p.state(), options);
    for (const float value : p.value.values<float>()) EXPECT_NEAR(value, 0.01, 1e-7);
  }
}

TEST(Adam, AgreesWithPyTorch) {
  // torch.optim.AdamW(lr=0.1, betas=(0.9, 0.98), eps=1e-9, weight_decay=0.01) on the values
  // 1, -2, 0.5 with the gradients 0.3, -0.1, 2 and then -1, 0.2, 0.5.
  Parameter p(3);
  p.value = Tensor::of({3}, std::vector<float>{1.0f, -2.0f, 0.5f});
  const std::vector<float> gradients[] = {{0.3f, -0.1f, 2.0f}, {-1.0f, 0.2f, 0.5f}};
  for (int t = 1; t <= 2; ++t) {
    p.gradient = Tensor::of({3}, gradients[t - 1]);
    AdamOptions options = options_at(t);
    options.learning_rate = 0.1f;
    options.weight_decay = 0.01f;
    options.gradient_scale = 1.0f;
    adam_step(p.state(), options);
  }
  const double expected[] = {0.9499270, -1.9326074, 0.3156865};
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(p.value.values<float>()[i], expected[i], 2e-6);
}

TEST(Adam, ConsumesTheGradient) {
  Parameter p(1000);
  adam_step(p.state(), options_at(1));
  EXPECT_FALSE(p.gradient.defined());
}

TEST(Adam, AnUndefinedGradientIsZero) {
  on_every_target([](const std::string& target) {
    Parameter without(100), zeros(100);
    without.gradient = {};
    zeros.gradient.fill_zero();
    for (Parameter* p : {&without, &zeros}) {
      p->moment1 = normals({100}, 62);
      p->moment2 = Tensor::full({100}, 0.5f);
      cpu::adam_steps(std::array{p->state()}, options_at(2));
    }
    EXPECT_EQ(without.value.values<float>()[7], zeros.value.values<float>()[7]) << target;
    EXPECT_NE(without.value.values<float>()[7], Parameter(100).value.values<float>()[7]);
    reference::adam_steps(std::array{without.state()}, options_at(3));
    reference::adam_steps(std::array{zeros.state()}, options_at(3));
    EXPECT_EQ(without.value.values<float>()[7], zeros.value.values<float>()[7]);
  });
}

TEST(Adam, OnePassOverManyParametersEqualsSingleSteps) {
  const int64_t sizes[] = {7, 100000, 1, 70000};
  std::vector<Parameter> batched, alone;
  for (const int64_t size : sizes) {
    batched.emplace_back(size);
    alone.emplace_back(size);
  }
  std::vector<AdamState> states;
  for (Parameter& p : batched) states.push_back(p.state());
  states[1].decays = false;
  adam_steps(states, options_at(1));
  for (size_t i = 0; i < alone.size(); ++i) {
    AdamOptions options = options_at(1);
    if (i == 1) options.weight_decay = 0.0f;
    adam_step(alone[i].state(), options);
    EXPECT_EQ(std::memcmp(alone[i].value.raw(), batched[i].value.raw(),
                          static_cast<size_t>(alone[i].value.bytes())),
              0)
        << i;
  }
}

TEST(Adam, DoesNotDependOnTheNumberOfThreads) {
  expect_same_on_any_thread_count([] {
    Parameter p(200001);
    adam_step(p.state(), options_at(1));
    return std::vector<Tensor>{p.value, p.moment1, p.moment2};
  });
}

}  // namespace
}  // namespace heed::kernels
