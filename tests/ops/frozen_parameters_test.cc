// Ops with frozen parameters: they compute no gradients of them, and the same gradients of their
// inputs as otherwise.
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "heed/kernels/quantize.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/embedding.h"
#include "heed/ops/linear.h"
#include "heed/ops/norm.h"
#include "heed/ops/relative_bias.h"
#include "heed/tensor/allocator.h"
#include "tests/base/testing.h"
#include "tests/kernels/stored_testing.h"

namespace heed::ops {
namespace {

using kernels::normals;
using kernels::same_bits;

constexpr int64_t kWidth = 64;

Parameter parameter_of(const std::string& name, const Shape& shape) {
  Parameter parameter;
  parameter.name = name;
  parameter.shape = shape;
  parameter.value = normals(shape, name.size());
  return parameter;
}

/// Some parameters that an op reads, and how it is run.
struct Case {
  std::string name;
  std::vector<Parameter> parameters;
  std::function<void(Context&, const Tensor& x, const std::vector<Parameter>& p)> run;
};

/// The backward pass begins with these.
void begin_backward(Context& context, const Tensor& y) {
  context.tape->add(y, normals(y.shape(), 77));
}

const std::vector<int32_t> kTokens{3, 0, 7};

std::vector<Case> cases() {
  return {{"linear",
           {parameter_of("weight", {24, kWidth}), parameter_of("bias", {24})},
           [](Context& c, const Tensor& x, const auto& p) {
             begin_backward(c, linear(c, x, p[0], p[1]));
           }},
          {"layer_norm",
           {parameter_of("weight", {kWidth}), parameter_of("bias", {kWidth})},
           [](Context& c, const Tensor& x, const auto& p) {
             begin_backward(c, layer_norm(c, x, p[0], p[1], 1e-5f));
           }},
          {"rms_norm",
           {parameter_of("weight", {kWidth})},
           [](Context& c, const Tensor& x, const auto& p) {
             begin_backward(c, rms_norm(c, x, p[0], 1e-5f));
           }},
          {"cross_entropy",
           {parameter_of("weight", {24, kWidth}), parameter_of("bias", {24})},
           [](Context& c, const Tensor& x, const auto& p) {
             cross_entropy(c, x, p[0], p[1], kTokens, {});
           }},
          {"embedding",
           {parameter_of("table", {9, kWidth}), parameter_of("positions", {4, kWidth})},
           [](Context& c, const Tensor&, const auto& p) {
             begin_backward(c, embedding(c, {kTokens, kTokens}, p[0], 1.0f, {}));
           }},
          {"learned positions",
           {parameter_of("table", {9, kWidth}), parameter_of("positions", {8, kWidth})},
           [](Context& c, const Tensor&, const auto& p) {
             begin_backward(c, embedding(c, {kTokens, kTokens}, p[0], 1.0f, {{}, &p[1]}));
           }},
          {"relative_bias",
           {parameter_of("table", {8, 3})},
           [](Context& c, const Tensor&, const auto& p) {
             begin_backward(c, relative_bias(c, p[0], {8, 20, true}, 4));
           }}};
}

struct Result {
  Tensor dx;
  std::vector<Tensor> gradients;  // one for each parameter; none where it is frozen
};

Result run(const Case& one) {
  const Tensor x = normals({3, kWidth}, 5);
  Gradients gradients(one.parameters);
  Tape tape(gradients);
  Context context{.tape = &tape};
  one.run(context, x, one.parameters);
  tape.backward();
  Result result{tape.take(x), {}};
  for (const Parameter& parameter : one.parameters)
    result.gradients.push_back(parameter.trainable ? gradients.of(parameter).materialized()
                                                   : Tensor());
  return result;
}

void expect_same(const Tensor& found, const Tensor& expected, const std::string& what) {
  ASSERT_EQ(found.defined(), expected.defined()) << what;
  EXPECT_TRUE(!expected.defined() || same_bits(found, expected)) << what;
}

TEST(FrozenParameters, GetNoGradientAndDoNotChangeOthers) {
  for (Case& one : cases()) {
    const Result expected = run(one);
    for (size_t frozen = 0; frozen < one.parameters.size(); ++frozen) {
      one.parameters[frozen].trainable = false;
      const Result found = run(one);
      expect_same(found.dx, expected.dx, one.name);
      for (size_t i = 0; i < one.parameters.size(); ++i)
        if (i != frozen)
          expect_same(found.gradients[i], expected.gradients[i],
                      one.name + ", " + one.parameters[i].name);
      one.parameters[frozen].trainable = true;
    }
  }
}

TEST(FrozenParameters, NeedNoGradientsAtAll) {
  const Tensor x = normals({3, kWidth}, 5);
  for (Case& one : cases()) {
    const Tensor expected = run(one).dx;
    for (Parameter& parameter : one.parameters) parameter.trainable = false;
    Tape tape;
    Context context{.tape = &tape};
    one.run(context, x, one.parameters);
    tape.backward();
    expect_same(tape.take(x), expected, one.name);
  }
}

TEST(FrozenParameters, LetALinearMapFreeItsInput) {
  Parameter weight = parameter_of("weight", {2, 1024}), none;
  for (const bool trainable : {true, false}) {
    weight.trainable = trainable;
    Tape tape;
    Context context{.tape = &tape};
    const size_t before = allocated_bytes();
    {
      const Tensor x = Tensor::zeros({1024, 1024});
      linear(context, x, weight, none);
    }
    const size_t held = allocated_bytes() - before;
    EXPECT_EQ(held > 1024 * 1024, trainable) << held;
  }
}

TEST(FrozenParameters, MayBeOfAnyStoredType) {
  Parameter none, wide = parameter_of("weight", {24, kWidth});
  wide.trainable = false;
  for (const DType dtype : {DType::bf16, DType::f16, DType::q8_0, DType::q4_0})
    for (const DType compute : {DType::f32, DType::bf16}) {
      Parameter stored = wide;
      stored.value = Tensor::empty(wide.shape, dtype);
      kernels::quantize(normals(wide.shape, 3), stored.value);
      wide.value = Tensor::empty(wide.shape);
      kernels::dequantize(stored.value, wide.value);
      const Tensor x = normals({3, kWidth}, 5, compute), dy = normals({3, 24}, 6, compute);
      const auto dx_of = [&](const Parameter& weight) {
        Tape tape;
        Context context{.tape = &tape, .dtype = compute};
        tape.add(linear(context, x, weight, none), dy.clone());
        tape.backward();
        return tape.take(x);
      };
      EXPECT_TRUE(same_bits(dx_of(stored), dx_of(wide))) << name_of(dtype);
    }
}

}  // namespace
}  // namespace heed::ops
