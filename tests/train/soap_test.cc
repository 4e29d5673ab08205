#include "heed/train/optimizers/soap.h"

#include <cmath>

#include "heed/io/safetensors.h"
#include "heed/kernels/elementwise.h"
#include "heed/model/transformer.h"
#include "heed/train/optimizers/optimizer.h"
#include "heed/train/step_gradients.h"
#include "tests/base/testing.h"
#include "tests/base/threads.h"
#include "tests/train/matrices.h"
#include "tests/train/tiny_model.h"

namespace heed::train {
namespace {

using testing::product;
using testing::random_matrix;
using testing::same_bits;

constexpr const char* kSoapSteps = "tests/golden/optimizers/soap.safetensors";

double norm_of_difference(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (int64_t i = 0; i < a.elements(); ++i)
    sum += std::pow(static_cast<double>(a.data<float>()[i]) - b.data<float>()[i], 2);
  return std::sqrt(sum);
}

/// The projection [N, N] on the space that the first rows span.
Tensor projection(const Tensor& basis, int64_t rows) {
  const Tensor first = basis.row_slice(0, rows);
  return product({first, true}, {first});
}

/// Checks that the eigenvectors of the first gradient are the reference's up to their signs (which
/// in f32 has errors of up to 1.3e-3 where eigenvalues are small), and continues with the
/// reference's: a side longer than the other has vectors with the eigenvalue 0, which are arbitrary
/// and change the steps.
void take_basis(const Tensor& expected, int64_t rank, SoapSide& side) {
  for (int64_t rows = 1; rows <= rank; ++rows)
    ASSERT_LT(norm_of_difference(projection(side.basis, rows), projection(expected, rows)), 3e-3)
        << rows << " of " << rank << " vectors";
  testing::expect_orthonormal_rows(side.basis, 2e-6f);
  side.basis = expected.clone();
}

struct SoapCase {
  const char* name;
  float weight_decay;
  int64_t max_dim;

  friend void PrintTo(const SoapCase& one, std::ostream* out) { *out << one.name; }
};

class SoapGolden : public ::testing::TestWithParam<SoapCase> {};

// Of the way from the first value, in Frobenius norms. Changing the gradients by one rounding of
// f32 (2^-23 of each) changes these steps by up to 6e-5, most in the case `long`, whose eigenvalues
// lie close together. Machines differ by such roundings, since they sum products in different
// orders, and the reference was computed on one of them; so both sides have that error. Errors of a
// formula are larger than 1e-3.
constexpr double kTolerance = 2 * 6e-5;

TEST_P(SoapGolden, StepsAreThoseOfTheReference) {
  const SoapCase& c = GetParam();
  const auto file = io::SafetensorsFile::open(std::filesystem::path(HEED_SOURCE_DIR) / kSoapSteps);
  const auto get = [&](const char* what) { return file->get(std::string(c.name) + "." + what); };
  const Tensor start = get("value"), gradients = get("gradients"), expected = get("values");
  Tensor value = start.clone();
  SoapState state = soap_state(value.shape(), c.max_dim);
  const int64_t rows = value.rows(), rank = std::min(rows, value.cols());
  SoapOptions options{.learning_rate = 0.01f, .weight_decay = c.weight_decay};
  for (; options.step * rows < gradients.rows(); ++options.step) {
    const auto part = [&](const Tensor& all) {
      return all.row_slice(options.step * rows, (options.step + 1) * rows);
    };
    soap_step(value, part(gradients), state, options);
    const double way = norm_of_difference(part(expected), start);
    ASSERT_LE(norm_of_difference(value, part(expected)), kTolerance * way)
        << "step " << options.step;
    if (options.step > 0) continue;
    EXPECT_EQ(way, 0);
    if (state.left.basis.defined()) take_basis(get("left"), rank, state.left);
    if (state.right.basis.defined()) take_basis(get("right"), rank, state.right);
  }
  EXPECT_EQ(options.step, 26);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SoapGolden,
    ::testing::Values(SoapCase{"square", 0.1f, 10000}, SoapCase{"wide", 0, 10000},
                      SoapCase{"tall", 0.1f, 10000}, SoapCase{"wide_bound", 0, 8},
                      SoapCase{"tall_bound", 0, 10}, SoapCase{"both_bound", 0.1f, 6},
                      SoapCase{"long", 0, 10000}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(Soap, KeepsTheIdentityForLongSides) {
  for (const auto& [max_dim, left, right] :
       {std::tuple{7, false, false}, {8, true, false}, {19, true, false}, {20, true, true}}) {
    const SoapState state = soap_state({8, 20}, max_dim);
    EXPECT_EQ(state.left.factor.defined() && state.left.basis.defined(), left);
    EXPECT_EQ(state.right.factor.defined() && state.right.basis.defined(), right);
  }
}

/// Some steps with random gradients.
void make_steps(Tensor& value, SoapState& state, float gradient_scale = 1.0f) {
  for (int64_t step = 0; step < 5; ++step) {
    Tensor gradient = random_matrix(value.shape(), 100 + static_cast<uint64_t>(step));
    kernels::scale(1.0f / gradient_scale, gradient);
    soap_step(value, gradient, state,
              {.learning_rate = 0.01f,
               .weight_decay = 0.2f,
               .gradient_scale = gradient_scale,
               .step = step,
               .frequency = 2});
  }
}

TEST(Soap, PowerIterationsFindTheEigenvectorsOfLaterGradients) {
  Tensor value = random_matrix({8, 12}, 1);
  SoapState state = soap_state({8, 12}, 100);
  // Another gradient than the first, again and again, with eigenvalues that differ.
  Tensor gradient = random_matrix({8, 12}, 2);
  for (int64_t row = 0; row < 8; ++row) {
    Tensor part = gradient.row_slice(row, row + 1);
    kernels::scale(std::pow(0.5f, static_cast<float>(row)), part);
  }
  for (int64_t step = 0; step < 60; ++step)
    soap_step(value, step == 0 ? random_matrix({8, 12}, 3) : gradient, state,
              {.learning_rate = 0.01f, .beta2 = 0.5f, .step = step, .frequency = 2});
  for (const SoapSide& side : {state.left, state.right}) {
    testing::expect_orthonormal_rows(side.basis, 2e-6f);
    const Tensor half = product({side.basis}, {side.factor});
    const Tensor diagonal = product({half}, {side.basis, true});
    const float* const d = diagonal.data<float>();
    for (int64_t i = 0; i < diagonal.rows(); ++i)
      for (int64_t j = 0; j < diagonal.rows(); ++j) {
        if (i == j) continue;
        ASSERT_NEAR(d[i * diagonal.rows() + j], 0, 1e-5 * d[0]) << "row " << i << " column " << j;
      }
  }
}

TEST(Soap, AStackOfMatricesStepsAsEachAloneDoes) {
  const Tensor before = random_matrix({3, 8, 20}, 3);
  Tensor stack = before.clone();
  SoapState state = soap_state({3, 8, 20}, 100);
  const SoapOptions options{.learning_rate = 0.01f, .weight_decay = 0.2f, .frequency = 2};
  std::vector<Tensor> gradients;
  for (uint64_t step = 0; step < 5; ++step)
    gradients.push_back(random_matrix({3, 8, 20}, 9 + step));
  const auto make_steps_of = [&](Tensor& value, SoapState& of_value, int64_t begin, int64_t end) {
    SoapOptions o = options;
    for (const Tensor& gradient : gradients) {
      soap_step(value, gradient.row_slice(begin, end).reshaped(value.shape()), of_value, o);
      ++o.step;
    }
  };
  make_steps_of(stack, state, 0, 24);
  for (int64_t i = 0; i < 3; ++i) {
    Tensor one = before.row_slice(i * 8, i * 8 + 8).clone();
    SoapState state_of_one = soap_state({8, 20}, 100);
    make_steps_of(one, state_of_one, i * 8, i * 8 + 8);
    EXPECT_TRUE(same_bits(one, stack.row_slice(i * 8, i * 8 + 8)));
    EXPECT_TRUE(
        same_bits(state_of_one.right.basis, state.right.basis.row_slice(i * 20, i * 20 + 20)));
  }
}

TEST(Soap, ScalesTheGradientFirst) {
  const Tensor before = random_matrix({8, 20}, 4);
  Tensor plain = before.clone(), scaled = before.clone();
  SoapState state_of_plain = soap_state({8, 20}, 100), state_of_scaled = soap_state({8, 20}, 100);
  make_steps(plain, state_of_plain);
  make_steps(scaled, state_of_scaled, 0.25f);
  EXPECT_TRUE(same_bits(plain, scaled));
}

TEST(Soap, AnUndefinedOrZeroGradientLeavesTheValue) {
  const Tensor before = random_matrix({8, 20}, 4);
  for (const Tensor& gradient : {Tensor(), Tensor::zeros({8, 20})}) {
    Tensor value = before.clone();
    SoapState state = soap_state({8, 20}, 100);
    for (int64_t step = 0; step < 5; ++step)
      soap_step(value, gradient, state, {.learning_rate = 0.1f, .step = step, .frequency = 2});
    EXPECT_TRUE(same_bits(value, before));
    // Steps with a gradient then work as always.
    soap_step(value, before, state, {.learning_rate = 0.1f, .step = 5, .frequency = 2});
    EXPECT_TRUE(std::isfinite(kernels::sum_of_squares(value)));
    EXPECT_GT(norm_of_difference(value, before), 0);
  }
}

TEST(Soap, HasTheSameBitsOnAnyNumberOfThreads) {
  Tensor expected;
  for (const int count : {1, 2, 3}) {
    const Threads threads(count);
    Tensor value = random_matrix({150, 260}, 5);
    SoapState state = soap_state({150, 260}, 1000);
    make_steps(value, state);
    if (count == 1) expected = value;
    EXPECT_TRUE(same_bits(value, expected)) << count << " threads";
  }
}

TEST(Soap, StepsLinearMapsAndAdamTheRest) {
  model::Transformer model(testing::tiny_model(), 1);
  const auto gradients = make_step_gradients(model.parameters());
  const Optimizer optimizer(gradients->parts(), {.kind = OptimizerKind::soap, .soap_max_dim = 20});
  int64_t with_soap = 0;
  for (size_t i = 0; i < optimizer.parts().size(); ++i) {
    const Parameter& parameter = *optimizer.parts()[i].parameter;
    const bool linear = parameter.shape.rank() == 2 && parameter.role != WeightRole::head &&
                        parameter.role != WeightRole::token_embedding;
    // A side is 16 or 32 long. Besides two moments, each side of 16 has a factor and a basis.
    const size_t sides = linear ? (parameter.shape[0] == 16) + (parameter.shape[1] == 16) : 0;
    EXPECT_EQ(optimizer.state().moments[i].size(), 2 + 2 * sides) << parameter.name;
    with_soap += linear;
  }
  EXPECT_EQ(with_soap, 6 + 10);  // of the encoder's and the decoder's layer
}

}  // namespace
}  // namespace heed::train
