// Models that are loaded with SpeculationOptions.
#include <gtest/gtest.h>

#include "heed/model.h"
#include "heed/session.h"
#include "tests/base/testing.h"
#include "tests/engine/small_models.h"

namespace heed {
namespace {

struct SpeculativeModels : testing::Test {
  SpeculativeModels() { engine::write_decoder(folder.path() / "model"); }

  std::vector<Generation> outputs(const SpeculationOptions& speculation) const {
    const Model model = Model::load(folder.path() / "model", {.speculation = speculation});
    const GenerateOptions options{.max_new_tokens = 40, .temperature = 0.8f};
    std::vector<Generation> all = model.generate_batch({"one two one two", "three"}, options);
    all.resize(4);
    Session session(model);
    for (const int64_t number : {1, 2})
      session.add({.prompt = number == 1 ? "one two one two" : "three",
                   .options = options,
                   .number = number},
                  [&all, number](const Delta& delta) {
                    if (delta.generation) all[1 + static_cast<size_t>(number)] = *delta.generation;
                    return true;
                  });
    while (session.step()) {
    }
    return all;
  }

  TemporaryDirectory folder;
};

TEST_F(SpeculativeModels, GenerateTheSameOutputs) {
  const std::vector<Generation> expected = outputs({});
  ASSERT_EQ(expected.size(), 4u);
  int64_t drafted = 0;
  for (const SpeculationOptions& speculation :
       {SpeculationOptions{.ngram = true}, SpeculationOptions{.draft = folder.path() / "model"},
        SpeculationOptions{.draft = folder.path() / "model", .draft_weights = WeightType::q8_0}}) {
    const std::vector<Generation> found = outputs(speculation);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(found[i].tokens, expected[i].tokens);
      EXPECT_EQ(found[i].text, expected[i].text);
      drafted += found[i].drafted_tokens;
    }
  }
  EXPECT_GT(drafted, 0);
  EXPECT_EQ(expected[0].drafted_tokens, 0);
}

TEST_F(SpeculativeModels, RefuseWhatCannotDraft) {
  const auto path = folder.path() / "model";
  const auto refuses = [&](const SpeculationOptions& options, const std::string& why) {
    expect_error([&] { Model::load(path, {.speculation = options}); }, why);
  };
  refuses({.ngram = true, .draft = path}, "expected one of them");
  refuses({.draft = folder.path() / "none"}, "none");
  engine::write_encoder(folder.path() / "encoder", true);
  refuses({.draft = folder.path() / "encoder"}, "one of them has an encoder");
  engine::write_decoder(folder.path() / "other");
  write_quickly(folder.path() / "other/tokenizer_config.json",
                R"({"added_tokens_decoder": {"117": {"content": "<extra>", "special": true}}})");
  refuses({.draft = folder.path() / "other"}, "their tokenizers differ");
  std::filesystem::remove(folder.path() / "other/tokenizer.model");
  refuses({.draft = folder.path() / "other"}, "other");
}

}  // namespace
}  // namespace heed
