#include "heed/ops/tape.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/ops/parameter.h"
#include "heed/tensor/allocator.h"
#include "tests/base/testing.h"

namespace heed {
namespace {

TEST(Gradient, HoldsMemoryFromTheFirstAddUntilSetToZero) {
  Gradient gradient({3, 4});
  EXPECT_FALSE(gradient.tensor().defined());
  {
    auto [sum, accumulate] = gradient.slot();
    EXPECT_FALSE(accumulate) << "the first write replaces, it does not add";
    EXPECT_EQ(sum.shape(), Shape({3, 4}));
    sum.fill_zero();
    sum.data<float>()[5] = 2.0f;
  }
  EXPECT_TRUE(gradient.slot().accumulate);
  EXPECT_EQ(gradient.tensor().values<float>()[5], 2.0f);
  gradient.set_zero();
  EXPECT_FALSE(gradient.tensor().defined());
  EXPECT_EQ(gradient.materialized().values<float>()[5], 0.0f);
  EXPECT_TRUE(gradient.tensor().defined());
}

TEST(Gradient, IsCountedAsInUseWithAndWithoutMemory) {
  const size_t before = allocated_bytes();
  Gradient gradient({256, 256});
  const size_t with = allocated_bytes();
  EXPECT_EQ(with, before + 256 * 256 * 4);
  gradient.slot();
  EXPECT_EQ(allocated_bytes(), with);
  gradient.set_zero();
  EXPECT_EQ(allocated_bytes(), with);
}

Parameter square_parameter(const std::string& name) {
  Parameter parameter;
  parameter.name = name;
  parameter.shape = {256, 256};
  parameter.value = Tensor::full(parameter.shape, 1.0f);
  return parameter;
}

TEST(Gradients, ExistOnlyForTrainedParameters) {
  std::vector<Parameter> parameters{square_parameter("trained"), square_parameter("frozen")};
  parameters[1].trainable = false;
  const size_t before = allocated_bytes();
  Gradients gradients(parameters);
  EXPECT_EQ(allocated_bytes(), before + 256 * 256 * 4);
  Tape tape(gradients);
  tape.gradient(parameters[0]).materialized();
  EXPECT_TRUE(gradients.of(parameters[0]).tensor().defined());
  gradients.set_zero();
  EXPECT_FALSE(gradients.of(parameters[0]).tensor().defined());
  expect_error([&] { gradients.of(parameters[1]); }, "frozen has no gradient: it is frozen");
  expect_error([&] { tape.gradient(square_parameter("another")); }, "another has no gradient");
  expect_error([&] { gradients.add(parameters[0]); }, "trained has two gradients");
  Tape without;
  expect_error([&] { without.gradient(parameters[0]); }, "the tape was given no gradients");
}

/// Writes down what it is told.
class Names : public GradientHook {
 public:
  void before_use(const Parameter&, DType) override {}
  void before_lookup(const Parameter&, DType) override {}
  void gradient_complete(const Parameter& parameter) override { text += parameter.name + " "; }
  std::string text;
};

TEST(Tape, TellsWhenAllUsesOfAParameterHaveRun) {
  const std::vector<Parameter> parameters{square_parameter("twice"), square_parameter("once"),
                                          square_parameter("loss")};
  Gradients gradients(parameters);
  Names names;
  Tape tape(gradients, &names);
  const auto use = [&](size_t i) {
    tape.use(parameters[i]);
    tape.record([&, i] { names.text += "step of " + parameters[i].name + ", "; });
  };
  use(0);
  tape.record([&] { names.text += "step, "; });
  use(1);
  use(0);
  tape.use(parameters[2]);  // as cross_entropy() does, which computes its gradient at once
  EXPECT_EQ(names.text, "");
  tape.backward();
  EXPECT_EQ(names.text, "loss step of twice, step of once, once step, step of twice, twice ");
}

TEST(Tape, RefusesGradientsOfParametersThatNoOpHasAnnounced) {
  const std::vector<Parameter> parameters{square_parameter("silent")};
  Gradients gradients(parameters);
  Names names;
  Tape tape(gradients, &names);
  expect_error([&] { tape.gradient(parameters[0]); }, "silent: an op adds to its gradient and has");
  tape.use(parameters[0]);
  tape.gradient(parameters[0]).materialized();
}

TEST(Tape, RecomputesATensorOnceForAllItsReaders) {
  Tape tape;
  int computed = 0;
  SavedTensor first = tape.save(Tensor::full({1}, 1.0f)), second = first;
  {
    const Tensor y = Tensor::full({2, 3}, 5.0f);
    const SavedTensor again = tape.recompute(y, [&computed] {
      ++computed;
      return Tensor::full({2, 3}, 5.0f);
    });
    tape.record([again] {});
    first = tape.save(y);
    second = tape.save(y.reshaped({3, 2}));
  }
  EXPECT_EQ(computed, 0);
  EXPECT_EQ(first.tensor().values<float>()[5], 5.0f);
  EXPECT_EQ(second.tensor().shape(), Shape({3, 2}));
  EXPECT_EQ(computed, 1);
}

TEST(Tape, HoldsTensorsThatAreNotRecomputed) {
  Tape tape;
  const Tensor x = Tensor::full({4}, 3.0f);
  EXPECT_EQ(tape.save(x).tensor().id(), x.id());
}

}  // namespace
}  // namespace heed
