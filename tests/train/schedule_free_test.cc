#include "heed/train/optimizers/schedule_free.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/error.h"
#include "heed/io/safetensors.h"
#include "heed/kernels/elementwise.h"
#include "heed/train/optimizers/evaluated_weights.h"
#include "tests/base/testing.h"
#include "tests/train/tiny_run.h"

namespace heed::train {
namespace {

constexpr const char* kScheduleFreeSteps = "tests/golden/optimizers/schedule_free.safetensors";

struct ScheduleFreeCase {
  const char* name;
  float weight_decay;
  int warmup;

  friend void PrintTo(const ScheduleFreeCase& one, std::ostream* out) { *out << one.name; }
};

class ScheduleFreeGolden : public ::testing::TestWithParam<ScheduleFreeCase> {};

void expect_near(const Tensor& found, const Tensor& expected, int64_t step) {
  for (int64_t i = 0; i < found.elements(); ++i)
    ASSERT_NEAR(found.data<float>()[i], expected.data<float>()[i], 1e-6)
        << "step " << step << " element " << i;
}

TEST_P(ScheduleFreeGolden, StepsAreThoseOfTheReference) {
  const ScheduleFreeCase& c = GetParam();
  const auto file =
      io::SafetensorsFile::open(std::filesystem::path(HEED_SOURCE_DIR) / kScheduleFreeSteps);
  const auto get = [&](const char* what) { return file->get(std::string(c.name) + "." + what); };
  const Tensor start = get("value"), gradients = get("gradients");
  const int64_t rows = start.rows();
  nn::Parameters parameters;
  Parameter& parameter =
      parameters.create("w", start.shape(), nn::Initializer::zeros(), WeightRole::other);
  parameter.value = start.clone();
  const auto gradient = make_step_gradients(parameters);
  Optimizer optimizer(gradient->parts(),
                      {.kind = OptimizerKind::schedule_free, .weight_decay = c.weight_decay});
  const Schedule schedule{.kind = ScheduleKind::constant, .peak = 0.01, .warmup = c.warmup};
  for (int64_t step = 0; step * rows < gradients.rows(); ++step) {
    const auto part = [&](const Tensor& all) {
      return all.row_slice(step * rows, (step + 1) * rows);
    };
    kernels::add_to(part(gradients), gradient->pass_gradients().of(parameter).materialized());
    optimizer.step(gradient->take(), schedule.at(step + 1), 1.0);
    expect_near(parameter.value, part(get("y")), step);
    {
      const EvaluatedWeights evaluated(optimizer, *gradient);
      expect_near(parameter.value, part(get("x")), step);
    }
    expect_near(parameter.value, part(get("y")), step);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, ScheduleFreeGolden,
                         ::testing::Values(ScheduleFreeCase{"plain", 0, 0},
                                           ScheduleFreeCase{"decay", 0.1f, 0},
                                           ScheduleFreeCase{"warmup", 0.1f, 5}),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(ScheduleFree, NeedsAConstantLearningRate) {
  const TemporaryDirectory folder;
  TrainConfig config = testing::tiny_config(folder);
  config.optimizer.name = OptimizerKind::schedule_free;
  EXPECT_THROW(config.validate(), Error);
  config.optimizer.lr_scheduler_type = ScheduleKind::constant;
  config.validate();
}

TEST(ScheduleFree, SavesTheAverageAsTheModel) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  TrainConfig config = testing::tiny_config(folder);
  config.optimizer.name = OptimizerKind::schedule_free;
  config.optimizer.lr_scheduler_type = ScheduleKind::constant;
  config.run.average = 0;
  testing::train(config, folder, "out", {});
  const auto weights = io::SafetensorsFile::open(folder / "out/last/model.safetensors");
  const auto moments = io::SafetensorsFile::open(folder / "out/last/optimizer.safetensors");
  const std::string name = "model.encoder.layers.0.fc1.weight";
  Tensor x = moments->get(name + ".y").clone();
  schedule_free_average(x, moments->get(name + ".z"), 0.9f);
  const Tensor saved = weights->get(name);
  for (int64_t i = 0; i < x.elements(); ++i) ASSERT_EQ(saved.data<float>()[i], x.data<float>()[i]);
}

}  // namespace
}  // namespace heed::train
