// Training steps on a GPU: a simulated one, or a real one (tests/kernels/test_gpu.h).
#include <gtest/gtest.h>

#include <cmath>

#include "heed/kernels/adam.h"
#include "heed/model/transformer.h"
#include "tests/kernels/test_gpu.h"
#include "tests/train/tiny_model.h"

namespace heed::train {
namespace {

/// The losses of ten steps of Adam on one batch.
std::vector<double> losses_on(Device* device) {
  const std::vector<int32_t> source{5, 9, 1, 7, 8, 9, 10, 1}, source_offsets{0, 3, 8};
  const std::vector<int32_t> input{0, 4, 6, 0, 12, 13, 14}, input_offsets{0, 3, 7};
  const std::vector<int32_t> target{4, 6, 1, 12, 13, 14, 1};
  model::ModelConfig config = testing::tiny_model();
  config.dropout = 0.1f;
  model::Transformer model(config, 3);
  model.move_to(device);
  const DeviceScope scope(device);
  std::vector<Tensor> first, second;
  for (const Parameter& parameter : model.parameters().all()) {
    first.push_back(Tensor::zeros(parameter.shape));
    second.push_back(Tensor::zeros(parameter.shape));
  }
  std::vector<double> losses;
  Gradients gradients(model.parameters().all());
  for (int step = 1; step <= 10; ++step) {
    gradients.set_zero();
    Tape tape(gradients);
    Context context{.tape = &tape, .dropout_seed = static_cast<uint64_t>(step)};
    const ops::Loss loss =
        model.loss(context, {source, source_offsets}, {input, input_offsets}, target,
                   {.label_smoothing = 0.1f, .gradient_scale = 1.0f / 7.0f});
    tape.backward();
    losses.push_back(loss.smoothed / 7.0);
    std::vector<Tensor> sums;
    for (const Parameter& parameter : model.parameters().all())
      sums.push_back(gradients.of(parameter).tensor());
    std::vector<kernels::AdamState> states;
    size_t i = 0;
    for (Parameter& parameter : model.parameters().all()) {
      states.push_back({parameter.value, sums[i], first[i], second[i]});
      ++i;
    }
    kernels::adam_steps(states, {.learning_rate = 0.01f,
                                 .bias_correction1 = static_cast<float>(1 - std::pow(0.9, step)),
                                 .bias_correction2 = static_cast<float>(1 - std::pow(0.98, step))});
  }
  return losses;
}

TEST(Device, TenStepsOfAdamHaveTheLossesOfTheCpu) {
  const std::vector<double> found = losses_on(&kernels::test_gpu()), expected = losses_on(nullptr);
  EXPECT_LT(expected.back(), 0.8 * expected.front());
  for (size_t step = 0; step < found.size(); ++step)
    EXPECT_NEAR(found[step], expected[step], 1e-4) << step;
}

}  // namespace
}  // namespace heed::train
