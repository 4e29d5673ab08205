// Training with some parameters frozen: gradients, optimizer and checkpoint.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "heed/tensor/allocator.h"
#include "heed/train/checkpoints/checkpoint.h"
#include "tests/base/testing.h"
#include "tests/train/tiny_model.h"

namespace heed::train {
namespace {

void freeze_all_but_ff_down(model::Transformer& model) {
  for (Parameter& parameter : model.parameters().all())
    parameter.trainable = parameter.role == WeightRole::ff_down;
}

void run_step(const model::Transformer& model, Gradients& gradients) {
  const std::vector<int32_t> ids{5, 9, 2, 30, 7, 8}, offsets{0, 4, 6}, targets{9, 2, 30, 1, 8, 1};
  Tape tape(gradients);
  Context context{.tape = &tape};
  model.loss(context, {ids, offsets}, {ids, offsets}, targets, {.label_smoothing = 0.1f});
  tape.backward();
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() &&
         std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.bytes())) == 0;
}

std::map<std::string, Tensor> values_of(const model::Transformer& model) {
  std::map<std::string, Tensor> values;
  for (const Parameter& parameter : model.parameters().all())
    values[parameter.name] = parameter.value.clone();
  return values;
}

/// Bytes of one gradient and two moments of this shape, rounded as the allocator does.
size_t training_bytes(const Shape& shape) {
  const size_t before = allocated_bytes();
  const Gradient gradient(shape);
  const Tensor moment1 = Tensor::zeros(shape), moment2 = Tensor::zeros(shape);
  return allocated_bytes() - before;
}

size_t gradient_and_moment_bytes(model::Transformer& model) {
  const size_t before = allocated_bytes();
  const auto gradients = make_step_gradients(model.parameters());
  const Optimizer optimizer(gradients->parts(), {});
  return allocated_bytes() - before;
}

TEST(FrozenParameters, DoNotChangeTheGradientsOfTheOthers) {
  model::Transformer model(testing::tiny_model(), 3);
  Gradients all(model.parameters().all());
  run_step(model, all);
  freeze_all_but_ff_down(model);
  Gradients some(model.parameters().all());
  run_step(model, some);
  for (const Parameter& parameter : model.parameters().all())
    if (parameter.trainable) {
      EXPECT_TRUE(same_bits(some.of(parameter).tensor(), all.of(parameter).tensor()))
          << parameter.name;
    } else {
      EXPECT_THROW(some.of(parameter), Error) << parameter.name;
    }
}

TEST(FrozenParameters, TakeNoMemoryForGradientsAndMoments) {
  model::Transformer model(testing::tiny_model(), 3);
  freeze_all_but_ff_down(model);
  size_t expected = 0;
  for (const Parameter& parameter : model.parameters().all())
    if (parameter.trainable) expected += training_bytes(parameter.shape);
  EXPECT_EQ(gradient_and_moment_bytes(model), expected);

  for (Parameter& parameter : model.parameters().all()) parameter.trainable = false;
  EXPECT_EQ(gradient_and_moment_bytes(model), 0u);
}

TEST(FrozenParameters, AreNotChangedByTheOptimizer) {
  model::Transformer model(testing::tiny_model(), 3);
  freeze_all_but_ff_down(model);
  const auto before = values_of(model);
  const auto gradients = make_step_gradients(model.parameters());
  Optimizer optimizer(gradients->parts(), {.weight_decay = 0.1f});
  run_step(model, gradients->pass_gradients());
  EXPECT_GT(gradients->norm(), 0.0);
  optimizer.step(gradients->take(), 1e-2, 1.0);
  for (const Parameter& parameter : model.parameters().all())
    EXPECT_EQ(same_bits(parameter.value, before.at(parameter.name)), !parameter.trainable)
        << parameter.name;
}

TEST(FrozenParameters, AreSavedInTheCheckpointAndRestored) {
  const TemporaryDirectory folder;
  const RunDirectory run = RunDirectory::begin(folder / "run");
  distribute::Group alone;
  TrainingState state;
  const auto train = [&](model::Transformer& model, bool resume, int steps) {
    freeze_all_but_ff_down(model);
    const auto gradients = make_step_gradients(model.parameters());
    Optimizer optimizer(gradients->parts(), {});
    WholeModel weights(model);
    if (resume) load_checkpoint(run, {weights, optimizer, *gradients, state});
    for (int step = 0; step < steps; ++step) {
      run_step(model, gradients->pass_gradients());
      optimizer.step(gradients->take(), 1e-2, 1.0);
    }
    if (!resume)
      save_checkpoint(run, {weights, optimizer, *gradients, state},
                      EvaluatedWeights(optimizer, *gradients), {}, alone);
  };
  model::Transformer whole(testing::tiny_model(), 3), first(testing::tiny_model(), 3),
      second(testing::tiny_model(), 4);
  train(first, false, 2);
  const auto saved = values_of(first);
  train(second, true, 2);
  train(whole, false, 4);
  for (const Parameter& parameter : second.parameters().all()) {
    EXPECT_TRUE(same_bits(parameter.value, whole.parameters().named(parameter.name).value))
        << parameter.name;
    EXPECT_TRUE(parameter.trainable || same_bits(parameter.value, saved.at(parameter.name)))
        << parameter.name;
  }
}

TEST(FrozenParameters, IncludeTheBuffersOfTheFamilyOfAModel) {
  for (const char* const family : {"marian", "bart", "heed", ""}) {
    model::ModelConfig config = testing::tiny_model();
    config.family = family;
    if (config.family == "bart") {
      config.positions = model::PositionKind::learned;
      config.first_position = 2;
      config.embedding_norm = true;
    }
    model::Transformer model(config, 3);
    const WholeModel weights(model);
    EXPECT_EQ(model.parameters().named("final_logits_bias").trainable,
              config.family == "heed" || config.family.empty())
        << family;
    EXPECT_TRUE(model.parameters().named("model.shared.weight").trainable) << family;
  }
}

}  // namespace
}  // namespace heed::train
