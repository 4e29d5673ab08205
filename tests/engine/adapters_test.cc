// Adapters of a model: chosen by the requests of a session, or applied to everything.
#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "heed/error.h"
#include "heed/session.h"
#include "tests/engine/random_adapter.h"
#include "tests/engine/small_models.h"

namespace heed::engine {
namespace {

/// Eight adapters of the small decoder, called "0" to "7".
class Adapters : public ::testing::Test {
 protected:
  Adapters() {
    for (int i = 0; i < 8; ++i)
      options_.adapters.push_back({write_adapter(folder_ / std::to_string(i), models().decoder(),
                                                 static_cast<uint64_t>(i) + 1),
                                   "", 1.0f});
  }

  static constexpr const char* kPrompt = "the old sailor went out";
  static const GenerateOptions& limits() {
    static const GenerateOptions options{.max_new_tokens = 12};
    return options;
  }
  /// What a request with adapters gets.
  struct Output {
    std::vector<int32_t> tokens;
    std::vector<double> log_probabilities;
    bool operator==(const Output&) const = default;
  };
  static void add(Session& session, const std::optional<std::vector<std::string>>& adapters,
                  Output& output) {
    GenerateOptions options = limits();
    options.top_log_probabilities = 0;
    session.add({.prompt = kPrompt, .options = options, .adapters = adapters},
                [&output](const Delta& delta) {
                  for (const auto& token : delta.chosen) {
                    output.tokens.push_back(token.token);
                    output.log_probabilities.push_back(token.log_probability);
                  }
                  return true;
                });
  }
  static Output alone(const Model& model, const std::optional<std::vector<std::string>>& adapters) {
    Session session(model);
    Output output;
    add(session, adapters, output);
    while (session.step()) {
    }
    return output;
  }

  TemporaryDirectory folder_;
  LoadOptions options_;
};

TEST_F(Adapters, EightInOneBatchGiveEachRequestTheBitsThatItHasAlone) {
  for (const auto compute : {Compute::f32, Compute::bf16, Compute::int8}) {
    options_.compute = compute;
    const Model model = Model::load(models().decoder(), options_);
    std::vector<std::vector<std::string>> choices{{}, {"2", "5"}};
    for (int i = 0; i < 8; ++i) choices.push_back({std::to_string(i)});
    Session session(model, {.max_prefill_tokens = 7});
    std::vector<Output> found(choices.size());
    for (size_t i = 0; i < choices.size(); ++i) {
      add(session, choices[i], found[i]);
      if (i % 3 == 0) session.step();
    }
    while (session.step()) {
    }
    for (size_t i = 0; i < choices.size(); ++i) {
      EXPECT_EQ(found[i], alone(model, choices[i])) << i;
      for (size_t j = 0; j < i; ++j) EXPECT_NE(found[i], found[j]) << i << ", " << j;
    }
  }
}

TEST_F(Adapters, DoNotShareKeysAndValuesOfAPrompt) {
  const Model model = Model::load(models().decoder(), options_);
  const Output first = alone(model, {{"1"}}), second = alone(model, {{"2"}});
  Session session(model);
  for (const auto& [name, expected] : {std::pair{"1", first}, {"2", second}, {"1", first}}) {
    Output output;
    const int64_t reused = session.reused_tokens();
    add(session, {{name}}, output);
    while (session.step()) {
    }
    EXPECT_EQ(output, expected);
    EXPECT_EQ(session.reused_tokens() > reused,
              name == std::string("1") && reused == 0 && session.reused_tokens() > 0)
        << name;
  }
  EXPECT_GT(session.reused_tokens(), 0) << "the third request has the adapter of the first";
}

TEST_F(Adapters, ApplyTogetherToEverythingUnlessARequestChooses) {
  options_.adapters.resize(2);
  options_.adapters[1].scale = 0.5f;
  const Model both = Model::load(models().decoder(), options_);
  const Output output = alone(both, std::nullopt);
  EXPECT_EQ(output, alone(both, {{"0", "1"}}));
  EXPECT_EQ(both.generate(kPrompt, limits()).tokens, output.tokens);
  const Model plain = Model::load(models().decoder());
  EXPECT_EQ(alone(both, {std::vector<std::string>()}), alone(plain, std::nullopt));
  EXPECT_NE(both.score(kPrompt).log_probability(), plain.score(kPrompt).log_probability());
}

TEST_F(Adapters, AreAddedInEncodersAndEncoderDecoders) {
  const auto t5 = write_adapter(folder_ / "t5", models().t5(), 3);
  const Model plain = Model::load(models().t5()),
              adapted = Model::load(models().t5(), {.adapters = {{t5}}});
  EXPECT_NE(plain.score_pair("the sea", "ship").log_probability(),
            adapted.score_pair("the sea", "ship").log_probability());
  EXPECT_EQ(alone(adapted, std::nullopt).tokens, adapted.generate(kPrompt, limits()).tokens);
  const auto bert = write_adapter(folder_ / "bert", models().masked(), 3);
  const auto probability = [](const Model& model) {
    return model.fill("the [MASK] ship").masks[0].best[0].probability;
  };
  EXPECT_NE(probability(Model::load(models().masked())),
            probability(Model::load(models().masked(), {.adapters = {{bert}}})));
}

TEST_F(Adapters, OfAnotherModelNameTheTensorAndBothShapes) {
  const auto error = [](const std::filesystem::path& base, const std::filesystem::path& adapter) {
    return error_of([&] { Model::load(base, {.adapters = {{adapter}}}); });
  };
  const std::filesystem::path other = folder_ / "other";
  std::filesystem::copy(models().decoder(), other);
  std::string config = read_file(other / "config.json");
  config.replace(config.find("\"intermediate_size\": 96"), 23, "\"intermediate_size\": 80");
  std::filesystem::remove(other / "config.json");
  std::filesystem::remove(other / "model.safetensors");
  write_quickly(other / "config.json", config);
  write_weights(other);
  const std::string shapes = error(other, folder_ / "0");
  for (const char* part :
       {"the adapter was made for \"acme/base\"", "adapter_model.safetensors",
        "mlp.down_proj.lora_A.weight is [2, 96]", "expected [2, 80]", "which is [64, 80]"})
    EXPECT_NE(shapes.find(part), std::string::npos) << shapes;
  EXPECT_NE(error(models().t5(), folder_ / "0").find("the model has no linear map of this name"),
            std::string::npos);
  EXPECT_NE(error(models().decoder(), folder_ / "none").find("does not exist"), std::string::npos);
}

TEST_F(Adapters, ThatAreUnknownOrTwiceThereAreErrors) {
  options_.adapters.resize(2);
  const Model model = Model::load(models().decoder(), options_);
  expect_error([&] { alone(model, {{"7"}}); },
               "there is no adapter \"7\"; loaded are \"0\", \"1\"");
  expect_error([&] { alone(model, {{"1", "1"}}); }, "chosen twice");
  options_.adapters[1].name = "0";
  expect_error([&] { Model::load(models().decoder(), options_); }, "two adapters are called");
}

}  // namespace
}  // namespace heed::engine
