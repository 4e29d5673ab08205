#include "heed/train/optimizers/muon.h"

#include <gtest/gtest.h>

#include "heed/io/safetensors.h"
#include "heed/model/transformer.h"
#include "heed/train/optimizers/optimizer.h"
#include "heed/train/step_gradients.h"
#include "tests/base/testing.h"
#include "tests/train/matrices.h"
#include "tests/train/tiny_model.h"

namespace heed::train {
namespace {

using testing::random_matrix;

constexpr const char* kMuonSteps = "tests/golden/optimizers/muon.safetensors";

struct MuonCase {
  const char* name;
  float weight_decay;
  DType dtype;
  float tolerance;

  friend void PrintTo(const MuonCase& one, std::ostream* out) { *out << one.name; }
};

class MuonGolden : public ::testing::TestWithParam<MuonCase> {};

TEST_P(MuonGolden, StepsAreThoseOfPyTorch) {
  const MuonCase& c = GetParam();
  const auto file = io::SafetensorsFile::open(std::filesystem::path(HEED_SOURCE_DIR) / kMuonSteps);
  const auto get = [&](const char* what) { return file->get(std::string(c.name) + "." + what); };
  Tensor value = get("value").clone();
  const Tensor gradients = get("gradients"), expected = get(c.dtype == DType::f32 ? "f32" : "bf16");
  Tensor momentum = Tensor::zeros(value.shape());
  const MuonOptions options{
      .learning_rate = 0.01f, .weight_decay = c.weight_decay, .dtype = c.dtype};
  const int64_t rows = value.rows();
  for (int64_t step = 0; step * rows < gradients.rows(); ++step) {
    const auto part = [&](const Tensor& all) {
      return all.row_slice(step * rows, (step + 1) * rows);
    };
    muon_step(value, part(gradients), momentum, options);
    const Tensor wanted = part(expected);
    for (int64_t i = 0; i < value.elements(); ++i)
      ASSERT_NEAR(value.data<float>()[i], wanted.data<float>()[i], c.tolerance)
          << "step " << step << " element " << i;
  }
}

// A step moves elements by about 0.002; four steps in bf16, rounded in another order, by half of
// that at most.
INSTANTIATE_TEST_SUITE_P(Shapes, MuonGolden,
                         ::testing::Values(MuonCase{"wide", 0, DType::f32, 1e-6f},
                                           MuonCase{"tall", 0, DType::f32, 1e-6f},
                                           MuonCase{"square", 0.1f, DType::f32, 1e-6f},
                                           MuonCase{"wide", 0, DType::bf16, 1e-3f},
                                           MuonCase{"tall", 0, DType::bf16, 1e-3f},
                                           MuonCase{"square", 0.1f, DType::bf16, 4e-4f}),
                         [](const auto& one) {
                           return std::string(one.param.name) + "_" +
                                  std::string(name_of(one.param.dtype));
                         });

TEST(Muon, OrthogonalizedRowsAreNearlyOrthonormal) {
  const Tensor x = random_matrix({12, 60}, 1);
  const Tensor y = orthogonalized(x, 5, DType::f32);
  const Tensor gram = testing::product({y}, {y, true});
  for (int64_t row = 0; row < 12; ++row)
    for (int64_t col = 0; col < 12; ++col)
      EXPECT_NEAR(gram.data<float>()[row * 12 + col], row == col ? 1.0f : 0.0f, 0.5f);
}

TEST(Muon, AStackOfMatricesStepsAsEachAloneDoes) {
  const Tensor before = random_matrix({3, 8, 20}, 2), gradient = random_matrix({3, 8, 20}, 3);
  const MuonOptions options{.learning_rate = 0.01f, .weight_decay = 0.2f};
  Tensor stack = before.clone(), momentum = Tensor::zeros({3, 8, 20});
  muon_step(stack, gradient, momentum, options);
  for (int64_t i = 0; i < 3; ++i) {
    Tensor one = before.row_slice(i * 8, i * 8 + 8).clone(),
           momentum_of_one = Tensor::zeros({8, 20});
    muon_step(one, gradient.row_slice(i * 8, i * 8 + 8), momentum_of_one, options);
    EXPECT_TRUE(testing::same_bits(one, stack.row_slice(i * 8, i * 8 + 8)));
  }
}

TEST(Muon, AnUndefinedOrZeroGradientLeavesTheValue) {
  const Tensor before = random_matrix({8, 20}, 4);
  for (const Tensor& gradient : {Tensor(), Tensor::zeros({8, 20})}) {
    Tensor value = before.clone(), momentum = Tensor::zeros({8, 20});
    muon_step(value, gradient, momentum, {.learning_rate = 0.1f});
    EXPECT_TRUE(testing::same_bits(value, before));
  }
}

TEST(Muon, StepsLinearMapsAndAdamTheRest) {
  model::Transformer model(testing::tiny_model(), 1);
  const auto gradients = make_step_gradients(model.parameters());
  const Optimizer optimizer(gradients->parts(), {.kind = OptimizerKind::muon});
  int64_t with_muon = 0;
  for (size_t i = 0; i < optimizer.parts().size(); ++i) {
    const Parameter& parameter = *optimizer.parts()[i].parameter;
    const bool muon = optimizer.state().moments[i].size() == 1;
    const bool linear = parameter.shape.rank() == 2 && parameter.role != WeightRole::head &&
                        parameter.role != WeightRole::token_embedding;
    EXPECT_EQ(muon, linear) << parameter.name;
    with_muon += muon;
  }
  EXPECT_EQ(with_muon, 6 + 10);  // of the encoder's and the decoder's layer
}

}  // namespace
}  // namespace heed::train
