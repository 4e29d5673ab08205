// Rotary angles against those of transformers: tests/golden/rotary/make.py made the numbers.
#include "heed/nn/rotary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "heed/base/file.h"
#include "heed/base/json.h"

namespace heed::nn {
namespace {

using Json = nlohmann::json;

const Json& golden() {
  static const std::filesystem::path file =
      std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/rotary/expected.json";
  static const Json json = parse_json(read_file(file), file.string());
  return json;
}

RotaryScaling::Kind kind_of(const std::string& name) {
  if (name == "linear") return RotaryScaling::Kind::linear;
  if (name == "llama3") return RotaryScaling::Kind::llama3;
  if (name == "yarn") return RotaryScaling::Kind::yarn;
  if (name == "dynamic") return RotaryScaling::Kind::dynamic;
  if (name == "longrope") return RotaryScaling::Kind::longrope;
  return RotaryScaling::Kind::none;
}

RotarySettings settings_of(const Json& recorded) {
  const Json& parameters = recorded.at("rope_parameters");
  RotarySettings settings{.width = recorded.at("head_dim"),
                          .theta = parameters.at("rope_theta"),
                          .max_positions = recorded.at("max_position_embeddings")};
  RotaryScaling& s = settings.scaling;
  s.kind = kind_of(parameters.at("rope_type"));
  s.factor = parameters.value("factor", s.factor);
  s.original_max_positions =
      parameters.value("original_max_position_embeddings", s.original_max_positions);
  s.low_freq_factor = parameters.value("low_freq_factor", s.low_freq_factor);
  s.high_freq_factor = parameters.value("high_freq_factor", s.high_freq_factor);
  s.beta_fast = parameters.value("beta_fast", s.beta_fast);
  s.beta_slow = parameters.value("beta_slow", s.beta_slow);
  s.mscale = parameters.value("mscale", s.mscale);
  s.mscale_all_dim = parameters.value("mscale_all_dim", s.mscale_all_dim);
  s.attention_factor = parameters.value("attention_factor", s.attention_factor);
  s.truncate = parameters.value("truncate", s.truncate);
  s.short_factor = parameters.value("short_factor", s.short_factor);
  s.long_factor = parameters.value("long_factor", s.long_factor);
  return settings;
}

TEST(Rotary, FrequenciesAndFactorsAreThoseOfTransformers) {
  for (const auto& [name, recorded] : golden().at("cases").items()) {
    SCOPED_TRACE(name);
    const Rotary rotary(settings_of(recorded));
    const std::vector<float> expected = recorded.at("frequencies");
    ASSERT_EQ(rotary.frequencies().size(), expected.size());
    for (size_t c = 0; c < expected.size(); ++c)
      EXPECT_NEAR(rotary.frequencies()[c] / expected[c], 1.0f, 2.5e-7f) << "pair " << c;
    EXPECT_FLOAT_EQ(rotary.attention_factor(), recorded.at("attention_factor").get<float>());
  }
}

TEST(Rotary, CosinesAndSinesAreThoseOfTransformers) {
  const std::vector<int32_t> positions = golden().at("positions");
  for (const auto& [name, recorded] : golden().at("cases").items()) {
    SCOPED_TRACE(name);
    const Rotary rotary(settings_of(recorded));
    const Rotary::Rotation rotation = rotary.at(positions);
    const std::vector<float> cos = recorded.at("cos"), sin = recorded.at("sin");
    const size_t pairs = rotary.frequencies().size();
    ASSERT_EQ(static_cast<size_t>(rotation.cos.elements()), cos.size());
    for (size_t i = 0; i < cos.size(); ++i) {
      // The position multiplies an error in the last bit of a frequency.
      const double angle =
          positions[i / pairs] * static_cast<double>(rotary.frequencies()[i % pairs]);
      const double allowed = 1e-6 + 2.5e-7 * angle;
      EXPECT_NEAR(rotation.cos.data<float>()[i], cos[i], allowed) << i;
      EXPECT_NEAR(rotation.sin.data<float>()[i], sin[i], allowed) << i;
    }
  }
}

TEST(Rotary, FrequenciesOfTheOriginalContextAreNotScaledForALongerOne) {
  RotarySettings dynamic{.width = 8,
                         .scaling = {.kind = RotaryScaling::Kind::dynamic,
                                     .factor = 4.0,
                                     .original_max_positions = 2048},
                         .max_positions = 2048};
  EXPECT_TRUE(
      std::ranges::equal(Rotary(dynamic).frequencies(), Rotary({.width = 8}).frequencies()));
  dynamic.max_positions = 2049;
  EXPECT_FALSE(
      std::ranges::equal(Rotary(dynamic).frequencies(), Rotary({.width = 8}).frequencies()));

  RotarySettings longrope{.width = 4,
                          .scaling = {.kind = RotaryScaling::Kind::longrope,
                                      .factor = 32.0,
                                      .original_max_positions = 4096,
                                      .short_factor = {1.0, 2.0},
                                      .long_factor = {4.0, 8.0}},
                          .max_positions = 4096};
  EXPECT_FLOAT_EQ(Rotary(longrope).frequencies()[0], 1.0f);
  EXPECT_FLOAT_EQ(Rotary(longrope).frequencies()[1], 0.01f / 2.0f);
  longrope.max_positions = 4097;
  EXPECT_FLOAT_EQ(Rotary(longrope).frequencies()[0], 1.0f / 4.0f);
  EXPECT_FLOAT_EQ(Rotary(longrope).frequencies()[1], 0.01f / 8.0f);
}

TEST(Rotary, RefusesScalingsWithMissingParameters) {
  using Kind = RotaryScaling::Kind;
  EXPECT_THROW(Rotary({.width = 8, .scaling = {.kind = Kind::dynamic, .factor = 2.0}}), Error);
  EXPECT_THROW(
      Rotary({.width = 2,
              .scaling = {.kind = Kind::dynamic, .factor = 2.0, .original_max_positions = 64}}),
      Error);
  const RotaryScaling longrope{.kind = Kind::longrope,
                               .factor = 2.0,
                               .original_max_positions = 64,
                               .short_factor = {1.0, 1.0},
                               .long_factor = {1.0, 1.0}};
  EXPECT_NO_THROW(Rotary({.width = 4, .scaling = longrope}));
  EXPECT_THROW(Rotary({.width = 6, .scaling = longrope}), Error);
  RotaryScaling negative = longrope;
  negative.long_factor[1] = -1.0;
  EXPECT_THROW(Rotary({.width = 4, .scaling = negative}), Error);
  EXPECT_THROW(Rotary({.width = 7}), Error);
  EXPECT_THROW(Rotary({.width = 0}), Error);
  EXPECT_THROW(Rotary({.width = 8, .theta = 0.0}), Error);
  EXPECT_THROW(Rotary({.width = 8, .scaling = {.kind = Kind::linear}}), Error);
  EXPECT_THROW(Rotary({.width = 8, .scaling = {.kind = Kind::llama3, .factor = 8.0}}), Error);
  EXPECT_THROW(Rotary({.width = 8,
                       .scaling = {.kind = Kind::llama3,
                                   .factor = 8.0,
                                   .original_max_positions = 8192,
                                   .low_freq_factor = 4.0,
                                   .high_freq_factor = 4.0}}),
               Error);
  EXPECT_THROW(Rotary({.width = 8, .scaling = {.kind = Kind::yarn, .factor = 8.0}}), Error);
  EXPECT_THROW(Rotary({.width = 8, .scaling = {.kind = Kind::yarn, .original_max_positions = 64}}),
               Error);
}

}  // namespace
}  // namespace heed::nn
